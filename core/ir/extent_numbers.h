#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace fusescope {

// Integer arithmetic that several parts of ExtentExpression use.

/// Returns a/b, rounded down. `b` must not be 0.
inline std::int64_t floorDivision(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

inline std::optional<std::int64_t> narrowed(__int128 wide) {
  if (wide > std::numeric_limits<std::int64_t>::max() || wide < std::numeric_limits<std::int64_t>::min())
    return std::nullopt;
  return static_cast<std::int64_t>(wide);
}

}  // namespace fusescope
