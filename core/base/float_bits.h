#pragma once

#include <cstdint>

#include "base/data_type.h"

namespace fusescope {

// Conversions between float32 and the narrow float types, rounding to nearest even as IEEE 754 says.
// float16 and bfloat16: overflow becomes infinity.
std::uint16_t toFloat16Bits(float value);
float fromFloat16Bits(std::uint16_t bits);
std::uint16_t toBFloat16Bits(float value);
float fromBFloat16Bits(std::uint16_t bits);

/// The code of `value` in a float type of 8, 6 or 4 bits with a mantissa, in the lowest bits. Beyond the largest number
/// comes that number, as ONNX's Cast saturates; with `saturate` off infinity or, where the type has none, NaN. The 6-
/// and 4-bit types have neither: they always saturate, and NaN becomes negative zero.
std::uint8_t toSmallFloatBits(DataType type, float value, bool saturate = true);

/// Which power of two stands for a number between two of them.
enum class ScaleRounding { Up, Down, Nearest };  ///< Nearest: ties up
/// The code of `value` in F8E8M0. Zero and what is too small or too large become the nearest end of the range; with
/// `saturate` off NaN. Negative numbers become NaN.
std::uint8_t toScaleBits(float value, ScaleRounding rounding = ScaleRounding::Up, bool saturate = true);

/// The number that a code of an 8-, 6- or 4-bit float type stands for; F8E8M0 too.
float fromSmallFloatBits(DataType type, std::uint8_t bits);

/// `value` rounded to what `type` can hold, as a float32: how lower precision is emulated. F16, BF16 and the float
/// types of 8, 6 and 4 bits round; every other type returns `value` unchanged.
float roundedTo(DataType type, float value);

}  // namespace fusescope
