#pragma once

#include <cstddef>
#include <cstdint>

#include "base/data_type.h"

namespace fusescope::native {

// Floats of 16 bits in memory. Kernels widen them when they read and round to nearest even when they write; NaN stays
// NaN, subnormal numbers stay what they are.

/// An element of DataType::F16.
struct Half {
  std::uint16_t bits;
};
/// An element of DataType::BF16.
struct Brain {
  std::uint16_t bits;
};

inline bool isNarrow(DataType type) {
  return type == DataType::F16 || type == DataType::BF16;
}

void toFloats(const Half* source, float* target, std::size_t count);
void toFloats(const Brain* source, float* target, std::size_t count);
void fromFloats(const float* source, Half* target, std::size_t count);
void fromFloats(const float* source, Brain* target, std::size_t count);

/// target = source rounded to `type`, which is narrow; they may be the same.
void roundFloats(DataType type, const float* source, float* target, std::size_t count);

}  // namespace fusescope::native
