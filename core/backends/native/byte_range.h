#pragma once

#include <cstdint>

namespace fusescope::native {

// ONNX's DynamicQuantizeLinear: floats to uint8 by the range that they have.

struct FloatRange {
  float least = 0, most = 0;  ///< always holds 0
};
/// What is not a number is passed over.
FloatRange rangeOf(const float* values, std::int64_t count);
inline FloatRange joined(FloatRange a, FloatRange b) {
  return {a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most};
}

struct ByteScale {
  float scale = 1;
  std::uint8_t zero = 0;
};
ByteScale byteScaleOf(FloatRange range);

/// saturate(round(x / scale) + zero)
void quantizeBytes(const float* values, std::int64_t count, ByteScale by, std::uint8_t* codes);

/// values[i] = sums[i] · factor · scales[i] (+ bias[i]); in place where both are the same memory. `scales` and `bias`
/// are as long as `count`, `bias` may be null.
void scaleSums(const std::int32_t* sums, std::int64_t count, float factor, const float* scales, const float* bias,
               float* values);

}  // namespace fusescope::native
