#pragma once

#include <nlohmann/json.hpp>

#include "base/json_fwd.h"

namespace fusescope {
/// Returns `value` as JSON. NaN and infinities, which JSON has no numbers for, become the strings "nan", "inf" and
/// "-inf".
Json jsonNumber(double value);
}  // namespace fusescope
