#include "base/float_bits.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fusescope {
namespace {

/// Rounds to a float with `mantissa` explicit bits, minimum normal exponent `minExponent` and largest value `most`;
/// beyond `most`: infinity, or `most` itself if `saturates`.
float roundedToFormat(float value, int mantissa, int minExponent, float most, bool saturates) {
  if (std::isnan(value) || value == 0.0F) return value;
  if (std::isinf(value)) return saturates ? std::copysign(most, value) : value;
  const int exponent = std::max(std::ilogb(value), minExponent);
  const float step = std::ldexp(1.0F, exponent - mantissa);
  const float rounded = std::nearbyint(value / step) * step;
  if (std::fabs(rounded) <= most) return rounded;
  return saturates ? std::copysign(most, value) : std::copysign(INFINITY, value);
}

}  // namespace

std::uint16_t toFloat16Bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return sign | 0x7e00U;
  if (magnitude >= 0x47800000U) return sign | 0x7c00U;  // 65536 and more
  if (magnitude < 0x38800000U) {                        // below the smallest normal: count in steps of 2^-24
    const float steps = std::bit_cast<float>(magnitude) * 16777216.0F;
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(steps)));
  }
  const std::uint32_t rebased = magnitude - 0x38000000U;
  const std::uint32_t rounded = rebased + 0x0fffU + ((rebased >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

float fromFloat16Bits(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t mantissa = bits & 0x3ffU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
  if (exponent == 0) {
    const float small = static_cast<float>(mantissa) / 16777216.0F;
    return sign != 0 ? -small : small;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

std::uint16_t toBFloat16Bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

float fromBFloat16Bits(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float roundedTo(DataType type, float value) {
  switch (type) {
    case DataType::F16:
      return fromFloat16Bits(toFloat16Bits(value));
    case DataType::BF16:
      return fromBFloat16Bits(toBFloat16Bits(value));
    case DataType::F8E4M3:
      return roundedToFormat(value, 3, -6, 448.0F, true);
    case DataType::F8E5M2:
      return roundedToFormat(value, 2, -14, 57344.0F, false);
    default:
      return value;
  }
}

}  // namespace fusescope
