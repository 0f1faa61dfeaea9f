#pragma once

#include <cstdint>
#include <span>

#include "ir/tensor.h"

namespace fusescope {

/// How many elements of a tensor are numbers that constants of a network rarely have.
struct OddElements {
  std::int64_t notNumbers = 0;
  std::int64_t infinite = 0;
  std::int64_t denormal =
      0;  ///< only of f32 and f64: narrow weights near 0 often are, and every kernel widens them exactly

  OddElements& operator+=(const OddElements& other) {
    notNumbers += other.notNumbers;
    infinite += other.infinite;
    denormal += other.denormal;
    return *this;
  }
};

/// Counts them. All counts are 0 for types other than f64, f32, f16 and bf16. It reads the whole tensor, about as fast
/// as memory can be read.
OddElements oddElements(const Tensor& tensor);
/// Returns the same for whole elements of this type, wherever they lie.
OddElements oddElements(DataType type, std::span<const std::byte> elements);

}  // namespace fusescope
