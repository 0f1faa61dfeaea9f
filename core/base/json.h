#pragma once

#include <nlohmann/json.hpp>

namespace fusescope {
/// The JSON type of the project. It keeps 64-bit integers exact, and keeps keys in the order in which they were
/// written.
using Json = nlohmann::ordered_json;

/// Returns `value` as JSON. NaN and infinities, which JSON has no numbers for, become the strings "nan", "inf" and
/// "-inf".
Json jsonNumber(double value);
}  // namespace fusescope
