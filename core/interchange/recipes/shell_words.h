#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusescope {

/// Splits a POSIX shell script into commands, each as its words. Quotes, backslashes, continued lines and comments are
/// handled, and a command ends at the end of a line, `;`, `&` or `|`. Nothing is expanded: `$MODEL` is left as it is.
std::vector<std::vector<std::string>> shellCommands(std::string_view script);

}  // namespace fusescope
