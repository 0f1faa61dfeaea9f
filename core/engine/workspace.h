#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace fusescope {

/// The error where no kernel for `node` gets by with the scratch memory that the plan allows; `least` is what one
/// needs.
Diagnostic tooLittleWorkspace(const std::string& node, std::int64_t least, std::int64_t limit);

}  // namespace fusescope
