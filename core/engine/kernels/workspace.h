#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace fusescope {

/// Returns the error that every kernel for `node` needs more scratch memory than the plan's limit; `least` is the
/// smallest need, in bytes.
Diagnostic tooLittleWorkspace(const std::string& node, std::int64_t least, std::int64_t limit);

}  // namespace fusescope
