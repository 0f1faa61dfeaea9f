#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

// JSON that people write or change: what a reader would pass over in silence is an error.

/// Errors: it is not complete JSON (with the line), an object has a key twice (with the key's place).
Result<Json> parseUserJson(std::string_view text);

std::vector<std::string> keysOf(const Json& object);

/// An error for the first key of `json`, an object, that is none of `known`. It names the nearest, if one is near.
/// `place` is where the object stands, empty for the whole file; `owner` what it is: "a pin", "a directives file".
Status checkKeys(const Json& json, const std::vector<std::string>& known, const std::string& place,
                 std::string_view owner);

/// That `key`, which `object` must have, is missing; where a key that is there may have been meant, which one.
std::string missingInWords(const Json& object, std::string_view key);

/// Checks that "format" of `json` is `format`. `what` names the expected kind for errors, such as "a directives file".
/// Errors: it is not an object, it has no format, or it has another one; the error states the expected format and the
/// newest `version`.
Status checkFormat(const Json& json, std::string_view what, std::string_view format, int version);

}  // namespace fusescope
