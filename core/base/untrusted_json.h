#pragma once

#include <string_view>

#include "base/json_fwd.h"

namespace fusescope {

/// Returns whether lists and objects are nested at most 512 deep. Code that reads, copies or writes JSON is recursive
/// and would overflow the stack if the nesting were deeper.
bool isShallow(std::string_view json);

/// Parses JSON of unknown origin. The result is `discarded` if the text is not JSON or is nested too deeply.
Json untrustedJson(std::string_view text);

}  // namespace fusescope
