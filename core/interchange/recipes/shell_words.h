#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusescope {

/// The commands of a POSIX shell script, each as its words: quotes, backslashes, continued lines and comments are
/// read, and a command ends at a line's end, `;`, `&` or `|`. Nothing is expanded: `$MODEL` stays itself.
std::vector<std::vector<std::string>> shellCommands(std::string_view script);

}  // namespace fusescope
