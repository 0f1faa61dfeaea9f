#pragma once

#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace fusescope {

/// Reads JSON as TensorRT's tools write it, which is not always valid: names are not escaped and may contain quotes and
/// control characters, and numbers may be nan or inf. A quote ends a text if a comma, a colon, a closing bracket or the
/// end of the input follows. Integers of 64 bits stay exact. Errors give line and column and what was expected. It is
/// also an error if the nesting is deeper than in any such file.
Result<Json> parseLenientJson(std::string_view text);

}  // namespace fusescope
