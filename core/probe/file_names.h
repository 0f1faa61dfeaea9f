#pragma once

#include <string_view>

namespace fusescope {

/// Whether a file of this name, which somebody else chose, lies below the folder that it is written to: parts between
/// '/', none of them empty, "." or "..", and nothing that means something else to another system.
bool isSafeFileName(std::string_view name);

}  // namespace fusescope
