#pragma once

#include <string>

#include "base/json.h"

namespace fusescope {

/// A report (reportJson()) as one HTML file that needs nothing else: no network, no script to be read, light and dark
/// as the reader's system has it. `svg`: the picture of the plan as the window draws it, or empty. All text of the
/// report is escaped. Pure.
std::string reportHtml(const Json& report, const std::string& svg = {});

/// Text between tags and in attributes.
std::string escapedHtml(const std::string& text);

}  // namespace fusescope
