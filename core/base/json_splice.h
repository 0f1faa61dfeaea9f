#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// The JSON text `text` in which the object at `path` (keys, from the outermost object on) has the member `key` with
/// the value `value`, itself JSON text: in the place of the member of that name, or added. All other bytes stay as they
/// are. Errors: the text is no JSON, there is no object at `path`, or a key stands in an object twice.
Result<std::string> withJsonMember(std::string_view text, const std::vector<std::string>& path, const std::string& key,
                                   std::string_view value);

}  // namespace fusescope
