#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>

#include "ir/tensor_type.h"

namespace fusescope::ops {

// Counts of operations. A count that does not fit into 64 bits is kBeyondCounting, and flopsOfNode() reports it as
// unknown.

inline constexpr std::int64_t kBeyondCounting = std::numeric_limits<std::int64_t>::max();

/// Returns the product of numbers that are not negative.
inline std::int64_t workOf(std::span<const std::int64_t> factors) {
  std::int64_t product = 1;
  bool isBeyond = false;
  for (const std::int64_t factor : factors) {
    if (factor == 0) return 0;
    isBeyond = __builtin_mul_overflow(product, factor, &product) || isBeyond;
  }
  return isBeyond ? kBeyondCounting : product;
}
inline std::int64_t workOf(std::initializer_list<std::int64_t> factors) {
  return workOf(std::span(factors.begin(), factors.size()));
}
inline std::int64_t workOf(const Dims& dims) {
  return workOf(std::span(dims.data(), dims.size()));
}

inline std::int64_t addedWork(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kBeyondCounting : sum;
}

}  // namespace fusescope::ops
