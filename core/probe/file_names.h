#pragma once

#include <string_view>

namespace fusescope {

/// Returns whether a file name that another party chose stays below the folder that it is written to: parts between
/// '/', none of which is empty, "." or "..", and no character with a special meaning on another system.
bool isSafeFileName(std::string_view name);

}  // namespace fusescope
