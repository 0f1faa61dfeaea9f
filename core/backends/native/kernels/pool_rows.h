#pragma once

#include <cstdint>
#include <span>

#include "backends/native/kernels/narrow_floats.h"

namespace fusescope::native {

/// The positions of the input in one window, in elements relative to the first one.
struct PoolWindow {
  std::span<const std::int64_t> places;
  bool average = false;  ///< true: mean; false: largest element
  float factor = 1;      ///< the factor for the sum of an average
};

/// Calculates target [inner] = the largest element, or the mean, of [inner] elements at each position. Without a
/// position the largest is -infinity.
void poolPlaces(const Floats& from, const Floats& target, std::int64_t inner, const PoolWindow& window);

/// Calculates accumulator[i] = the larger of accumulator[i] and row[i], or their sum.
void poolRow(const float* row, std::int64_t count, bool average, float* accumulator);

}  // namespace fusescope::native
