#pragma once

#include <QString>
#include <string>

#include "ui/theme/theme.h"

namespace fusescope {

/// Where a node's author wrote it, from lines as Python prints a trace: the innermost call first. A file of Python that
/// is on this machine is a link "source:PATH". Empty for no trace.
QString sourceHtml(const std::string& trace, const Theme& theme);

/// Opens a file of Python in the editor that the desktop has for it. Anything else is left alone: the path is from the
/// file of a network, which anybody may have written.
void openSource(const QString& path);

}  // namespace fusescope
