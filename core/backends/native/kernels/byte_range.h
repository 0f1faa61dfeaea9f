#pragma once

#include <cstdint>

namespace fusescope::native {

// ONNX's DynamicQuantizeLinear: floats to uint8 by the range that they have.

struct FloatRange {
  float least = 0, most = 0;  ///< the range always includes 0
};
/// Returns the range of the values; NaN is ignored.
FloatRange rangeOf(const float* values, std::int64_t count);
inline FloatRange joined(FloatRange a, FloatRange b) {
  return {a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most};
}

struct ByteScale {
  float scale = 1;
  std::uint8_t zero = 0;
};
ByteScale byteScaleOf(FloatRange range);

/// Calculates saturate(round(x / scale) + zero).
void quantizeBytes(const float* values, std::int64_t count, ByteScale by, std::uint8_t* codes);

/// Calculates values[i] = sums[i] · factor · scales[i] (+ bias[i]); `values` and `sums` may be the same memory.
/// `scales` and `bias` have `count` elements; `bias` may be null.
void scaleSums(const std::int32_t* sums, std::int64_t count, float factor, const float* scales, const float* bias,
               float* values);

}  // namespace fusescope::native
