#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace fusescope {

// These functions read JSON that people write or change. What a lenient reader would silently ignore is an error.

/// Parses `text`. It is an error if the text is not complete JSON (the error names the line), or if an object contains
/// a key twice (the error names the key's place).
Result<Json> parseUserJson(std::string_view text);

std::vector<std::string> keysOf(const Json& object);

/// Returns an error for the first key of the object `json` that is not one of `known`. The error names the most similar
/// known key, if there is one. `place` says where in the file the object is, and is empty for the whole file; `owner`
/// says what it is: "a pin", "a directives file".
Status checkKeys(const Json& json, const std::vector<std::string>& known, const std::string& place,
                 std::string_view owner);

/// Returns the message that `object` lacks the required `key`. If a key that is present may be a misspelling of it, the
/// message names that key.
std::string missingInWords(const Json& object, std::string_view key);

/// Checks that "format" of `json` is `format`. `what` names the expected kind for errors, such as "a directives file".
/// Errors: it is not an object, it has no format, or it has another one; the error states the expected format and the
/// newest `version`.
Status checkFormat(const Json& json, std::string_view what, std::string_view format, int version);

}  // namespace fusescope
