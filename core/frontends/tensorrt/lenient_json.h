#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// Reads JSON as TensorRT's tools write it, which is not always JSON: names stand unescaped in quotes, control
/// characters in them, and numbers may be nan or inf. A quote ends a text where a comma, a colon, a closing bracket or
/// the end of the text follows. Integers of 64 bits stay exact. Errors say in which line and column, and what was
/// expected there; one is nesting deeper than any such file has.
Result<Json> parseLenientJson(std::string_view text);

}  // namespace fusescope
