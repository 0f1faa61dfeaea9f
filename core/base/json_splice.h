#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// Returns the JSON text `text` with one member changed: in the object at `path` (keys, from the outermost object
/// inwards) the member `key` gets the value `value`, which is JSON text. The member is replaced if it exists, and added
/// otherwise; all other bytes stay as they are. It is an error if `text` is not JSON, if there is no object at `path`,
/// or if an object contains a key twice.
Result<std::string> withJsonMember(std::string_view text, const std::vector<std::string>& path, const std::string& key,
                                   std::string_view value);

}  // namespace fusescope
