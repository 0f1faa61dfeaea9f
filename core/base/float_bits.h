#pragma once

#include <cstdint>

#include "base/data_type.h"

namespace fusescope {

// Conversions between float32 and the narrow float types, rounding to nearest even as IEEE 754 says.
// float16: overflow becomes infinity. float8: ONNX's saturating rules (e4m3fn has no infinity).
std::uint16_t toFloat16Bits(float value);
float fromFloat16Bits(std::uint16_t bits);
std::uint16_t toBFloat16Bits(float value);
float fromBFloat16Bits(std::uint16_t bits);

/// `value` rounded to what `type` can hold, as a float32: how lower precision is emulated.
/// F16, BF16, F8E4M3 and F8E5M2 round; every other type returns `value` unchanged.
float roundedTo(DataType type, float value);

}  // namespace fusescope
