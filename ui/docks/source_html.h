#pragma once

#include <QString>
#include <string>

#include "ui/theme/theme.h"

namespace fusescope {

/// Returns where a node's author wrote it, from the lines of a Python traceback: the innermost call first. A Python
/// file on this machine becomes a link "source:PATH". Empty if there is no trace.
QString sourceHtml(const std::string& trace, const Theme& theme);

/// Opens a Python file in the editor of the desktop. It opens nothing else, because the path comes from the file of a
/// network, which anybody may have written.
void openSource(const QString& path);

}  // namespace fusescope
