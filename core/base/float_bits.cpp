#include "base/float_bits.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace fusescope {
namespace {

/// The layout of a float type of one byte or less: sign, exponent, mantissa, from the highest bit to the lowest.
struct SmallFloat {
  int bits;
  int mantissaBits;
  int bias;
  float most;
  std::uint8_t nan;       ///< the code for not a number; negative zero where there is none
  std::uint8_t infinity;  ///< what lies beyond the range without saturation
  bool isUnsignedZero;    ///< the code of negative zero is that of NaN
};

// The source is https://onnx.ai/onnx/technical/float8.html, and the OCP microscaling formats for 6 and 4 bits.
SmallFloat layoutOf(DataType type) {
  switch (type) {
    case DataType::F8E4M3:
      return {8, 3, 7, 448.0F, 0x7f, 0x7f, false};
    case DataType::F8E5M2:
      return {8, 2, 15, 57344.0F, 0x7e, 0x7c, false};
    case DataType::F8E4M3FNUZ:
      return {8, 3, 8, 240.0F, 0x80, 0x80, true};
    case DataType::F8E5M2FNUZ:
      return {8, 2, 16, 57344.0F, 0x80, 0x80, true};
    case DataType::F6E2M3:
      return {6, 3, 1, 7.5F, 0x20, 0x1f, false};
    case DataType::F6E3M2:
      return {6, 2, 3, 28.0F, 0x20, 0x1f, false};
    default:
      assert(type == DataType::F4E2M1);
      return {4, 1, 1, 6.0F, 0x08, 0x07, false};
  }
}

float scaleFromBits(std::uint8_t bits) {
  return bits == 0xff ? NAN : std::ldexp(1.0F, static_cast<int>(bits) - 127);
}

}  // namespace

std::uint16_t toFloat16Bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return sign | 0x7e00U;
  if (magnitude >= 0x47800000U) return sign | 0x7c00U;  // 65536 and more
  if (magnitude < 0x38800000U) {                        // below the smallest normal number, in steps of 2^-24
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

std::uint8_t toSmallFloatBits(DataType type, float value, bool saturate) {
  const SmallFloat layout = layoutOf(type);
  const auto signBit = static_cast<std::uint8_t>(1U << (layout.bits - 1));
  const std::uint8_t sign = std::signbit(value) ? signBit : 0;
  if (std::isnan(value)) return layout.isUnsignedZero || layout.bits < 8 ? layout.nan : layout.nan | sign;
  const auto codeOf = [&](float magnitude) -> std::uint8_t {  // for a number that the type represents
    const int exponent = magnitude == 0.0F ? 1 - layout.bias : std::max(std::ilogb(magnitude), 1 - layout.bias);
    const int steps = static_cast<int>(std::ldexp(magnitude, layout.mantissaBits - exponent));
    return static_cast<std::uint8_t>(((exponent + layout.bias - 1) << layout.mantissaBits) + steps);
  };
  float magnitude = std::fabs(value);
  if (std::isfinite(magnitude) && magnitude != 0.0F) {
    const int exponent = std::max(std::ilogb(magnitude), 1 - layout.bias);
    magnitude = std::ldexp(std::nearbyint(std::ldexp(magnitude, layout.mantissaBits - exponent)),
                           exponent - layout.mantissaBits);
  }
  if (magnitude > layout.most) {
    if (saturate || layout.bits < 8) return codeOf(layout.most) | sign;
    return layout.infinity | sign;
  }
  const std::uint8_t code = codeOf(magnitude);
  return code == 0 && layout.isUnsignedZero ? code : code | sign;
}

std::uint8_t toScaleBits(float value, ScaleRounding rounding, bool saturate) {
  constexpr std::uint8_t kNan = 0xff, kMost = 0xfe;
  if (std::isnan(value) || value < 0.0F) return kNan;
  if (std::isinf(value)) return saturate ? kMost : kNan;
  if (value < std::ldexp(1.0F, -127)) return saturate ? 0 : kNan;
  int exponent = std::ilogb(value);
  const float fraction = std::ldexp(value, -exponent);  // in [1, 2)
  const bool up = rounding == ScaleRounding::Up ? fraction > 1.0F : fraction >= 1.5F;
  if (rounding != ScaleRounding::Down && up) ++exponent;
  if (exponent > 127) return saturate ? kMost : kNan;
  return static_cast<std::uint8_t>(exponent + 127);
}

float fromSmallFloatBits(DataType type, std::uint8_t bits) {
  if (type == DataType::F8E8M0) return scaleFromBits(bits);
  const SmallFloat layout = layoutOf(type);
  const unsigned signBit = 1U << (layout.bits - 1);
  const unsigned code = bits & (signBit - 1);
  if (layout.isUnsignedZero && bits == layout.nan) return NAN;
  const float sign = (bits & signBit) != 0 ? -1.0F : 1.0F;
  if (type == DataType::F8E4M3 && code == 0x7f) return NAN;
  if (type == DataType::F8E5M2 && code >= 0x7c) return code == 0x7c ? sign * INFINITY : NAN;
  const int exponent = static_cast<int>(code >> layout.mantissaBits);
  const auto mantissa = static_cast<float>(code & ((1U << layout.mantissaBits) - 1));
  const float implicit = exponent == 0 ? 0.0F : std::ldexp(1.0F, layout.mantissaBits);
  return sign * std::ldexp(mantissa + implicit, std::max(exponent, 1) - layout.bias - layout.mantissaBits);
}

float roundedTo(DataType type, float value) {
  switch (type) {
    case DataType::F16:
      return fromFloat16Bits(toFloat16Bits(value));
    case DataType::BF16:
      return fromBFloat16Bits(toBFloat16Bits(value));
    case DataType::F8E4M3:
    case DataType::F8E5M2:
    case DataType::F8E4M3FNUZ:
    case DataType::F8E5M2FNUZ:
    case DataType::F6E2M3:
    case DataType::F6E3M2:
    case DataType::F4E2M1:
      return fromSmallFloatBits(type, toSmallFloatBits(type, value));
    case DataType::F8E8M0:
      return fromSmallFloatBits(type, toScaleBits(value));
    default:
      return value;
  }
}

}  // namespace fusescope
