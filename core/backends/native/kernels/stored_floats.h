#pragma once

#include <cstddef>
#include <cstdint>

#include "base/data_type.h"

namespace fusescope::native {

// Floats of 16 bits in memory. Kernels widen them when they read them, and round to nearest even when they write them.
// NaN stays NaN, and subnormal numbers are preserved.

/// An element of DataType::F16.
struct Half {
  std::uint16_t bits;
};
/// An element of DataType::BF16.
struct Brain {
  std::uint16_t bits;
};

/// A pointer to floats of 16 or 32 bits in memory, with their type.
struct Floats {
  DataType type = DataType::F32;
  std::byte* at = nullptr;

  Floats from(std::int64_t element) const {
    return {type, at + element * static_cast<std::int64_t>(byteSize(type, 1))};
  }
};

/// Returns a pointer to f32 numbers that are only read.
inline Floats floatsOf(const float* numbers) {
  return {DataType::F32, reinterpret_cast<std::byte*>(const_cast<float*>(numbers))};
}

/// Calls `function` with a pointer to elements of the actual type: const float*, const Half* or const Brain*.
template <class Function>
decltype(auto) withFloats(const Floats& floats, Function&& function) {
  if (floats.type == DataType::F16) return function(reinterpret_cast<const Half*>(floats.at));
  if (floats.type == DataType::BF16) return function(reinterpret_cast<const Brain*>(floats.at));
  return function(reinterpret_cast<const float*>(floats.at));
}

}  // namespace fusescope::native
