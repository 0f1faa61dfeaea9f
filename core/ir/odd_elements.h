#pragma once

#include <cstdint>

#include "ir/tensor.h"

namespace fusescope {

/// How many elements of a tensor are numbers that constants of a network rarely have.
struct OddElements {
  std::int64_t notNumbers = 0;
  std::int64_t infinite = 0;
  std::int64_t denormal =
      0;  ///< only of f32 and f64: narrow weights near 0 often are, and every kernel widens them exactly
};

/// Counts them. All counts are 0 for types other than f64, f32, f16 and bf16. It reads the whole tensor, about as fast
/// as memory can be read.
OddElements oddElements(const Tensor& tensor);

}  // namespace fusescope
