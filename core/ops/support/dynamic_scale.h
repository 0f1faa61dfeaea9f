#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace fusescope::ops {

/// The scale and zero point of DynamicQuantizeLinear: the range of the values, extended to include 0, is divided into
/// 255 steps.
struct DynamicScale {
  float scale = 1, zero = 0;

  std::uint8_t code(float value) const {
    return static_cast<std::uint8_t>(std::clamp(std::nearbyint(value / scale) + zero, 0.0F, 255.0F));
  }
  /// Returns `value` rounded to the number that its code represents.
  double rounded(float value) const { return (static_cast<double>(code(value)) - zero) * scale; }
};

inline DynamicScale dynamicScaleOf(std::span<const float> values) {
  float least = 0, most = 0;
  for (const float value : values) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  const float scale = most == least ? 1.0F : (most - least) / 255.0F;
  return {scale, std::nearbyint(std::clamp(0.0F - least / scale, 0.0F, 255.0F))};
}

}  // namespace fusescope::ops
