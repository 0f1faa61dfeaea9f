#pragma once

#include <nlohmann/json.hpp>

namespace fusescope {
/// Keeps 64-bit integers exact and keys in the order they were written.
using Json = nlohmann::ordered_json;

/// NaN and infinities become the strings "nan", "inf", "-inf", which JSON numbers cannot say.
Json jsonNumber(double value);
}  // namespace fusescope
