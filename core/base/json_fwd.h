#pragma once

#include <nlohmann/json_fwd.hpp>

namespace fusescope {
/// The JSON type of the project. It keeps 64-bit integers exact, and keeps keys in the order in which they were
/// written. Headers that only name it include this file; base/json.h defines it.
using Json = nlohmann::ordered_json;
}  // namespace fusescope
