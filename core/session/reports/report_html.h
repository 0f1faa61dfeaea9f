#pragma once

#include <string>

#include "base/json_fwd.h"

namespace fusescope {

/// Returns a report (reportJson()) as one self-contained HTML file: it loads nothing, can be read without scripts, and
/// is light or dark like the reader's system. `svg` is the picture of the plan as the window draws it, or empty. All
/// text of the report is escaped. It is a pure function.
std::string reportHtml(const Json& report, const std::string& svg = {});

}  // namespace fusescope
