#pragma once

#include <cstdint>
#include <span>

#include "backends/native/narrow_floats.h"

namespace fusescope::native {

/// The places of the input that one window takes, in elements from its first one.
struct PoolWindow {
  std::span<const std::int64_t> places;
  bool average = false;  ///< else the largest
  float factor = 1;      ///< of the sum of an average
};

/// target [inner] = the largest, or the mean, of [inner] elements at each place. Without a place the largest is
/// -infinity.
void poolPlaces(const Floats& from, const Floats& target, std::int64_t inner, const PoolWindow& window);

/// accumulator[i] = the larger of, or the sum of, itself and row[i].
void poolRow(const float* row, std::int64_t count, bool average, float* accumulator);

}  // namespace fusescope::native
