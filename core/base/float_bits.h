#pragma once

#include <cstdint>

#include "base/data_type.h"

namespace fusescope {

// These functions convert between float32 and narrower float types, and round to nearest even as IEEE 754 defines. In
// float16 and bfloat16, overflow becomes infinity.
std::uint16_t toFloat16Bits(float value);
float fromFloat16Bits(std::uint16_t bits);
std::uint16_t toBFloat16Bits(float value);
float fromBFloat16Bits(std::uint16_t bits);

/// Encodes `value` in a float type of 8, 6 or 4 bits with a mantissa; the code is in the lowest bits. A value beyond
/// the largest number becomes the largest number, as in ONNX's Cast. If `saturate` is off, it becomes infinity, or NaN
/// if the type has no infinity. The 6- and 4-bit types have neither, so that they always saturate; NaN becomes negative
/// zero in them.
std::uint8_t toSmallFloatBits(DataType type, float value, bool saturate = true);

/// Which power of two represents a number that lies between two of them.
enum class ScaleRounding { Up, Down, Nearest };  ///< Nearest rounds ties up
/// Encodes `value` in F8E8M0. Zero and values that are too small or too large become the nearest end of the range, or
/// NaN if `saturate` is off. Negative numbers become NaN.
std::uint8_t toScaleBits(float value, ScaleRounding rounding = ScaleRounding::Up, bool saturate = true);

/// Decodes a code of a float type of 8, 6 or 4 bits, including F8E8M0.
float fromSmallFloatBits(DataType type, std::uint8_t bits);

/// Rounds `value` to a number of `type` and returns it as a float32; this is how calculation in narrower types is
/// emulated. F16, BF16 and the float types of 8, 6 and 4 bits round; for every other type, `value` is returned
/// unchanged.
float roundedTo(DataType type, float value);

}  // namespace fusescope
