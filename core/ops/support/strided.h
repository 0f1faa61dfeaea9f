#pragma once

#include <array>

#include "ir/tensor_type.h"

namespace fusescope::ops {

/// Returns the strides of a dense tensor, in elements.
inline Dims denseStrides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

/// Returns strides that read a dense tensor of extents `from` as if it were broadcast to `to`.
inline Dims broadcastStrides(const Dims& from, const Dims& to) {
  const Dims dense = denseStrides(from);
  Dims strides(to.size(), 0);
  const std::size_t offset = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) strides[offset + i] = from[i] == 1 ? 0 : dense[i];
  return strides;
}

/// Visits the indices of `dims` in row-major order, one run along the innermost axis after another. It calls
/// `run(offsets, steps, count)`: element k of the run is at offsets[j] + k * steps[j] in operand j.
template <std::size_t N, class Run>
void forEachRun(const Dims& dims, const std::array<Dims, N>& strides, Run run) {
  const std::size_t rank = dims.size();
  for (const std::int64_t dim : dims)
    if (dim == 0) return;
  std::array<std::int64_t, N> offsets{}, steps{};
  if (rank == 0) return run(offsets, steps, std::int64_t{1});
  for (std::size_t j = 0; j < N; ++j) steps[j] = strides[j][rank - 1];
  Dims index(rank, 0);
  while (true) {
    run(offsets, steps, dims[rank - 1]);
    std::size_t axis = rank - 1;
    while (axis-- > 0) {
      ++index[axis];
      for (std::size_t j = 0; j < N; ++j) offsets[j] += strides[j][axis];
      if (index[axis] < dims[axis]) break;
      for (std::size_t j = 0; j < N; ++j) offsets[j] -= strides[j][axis] * dims[axis];
      index[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1)) return;
  }
}

/// Copies to[...] = from[...] over `dims`. Each side has its own strides, in elements.
template <class T>
void copyStrided(const Dims& dims, const T* from, const Dims& fromStrides, T* to, const Dims& toStrides) {
  forEachRun<2>(dims, {fromStrides, toStrides}, [&](const auto& offsets, const auto& steps, std::int64_t count) {
    const T* source = from + offsets[0];
    T* target = to + offsets[1];
    for (std::int64_t k = 0; k < count; ++k) target[k * steps[1]] = source[k * steps[0]];
  });
}

/// Calls `f(index)` for every index of `dims` in row-major order. `f` returns false to stop. Returns whether all calls
/// were made and returned true.
template <class F>
bool forEachIndex(const Dims& dims, F f) {
  for (const std::int64_t dim : dims)
    if (dim == 0) return true;
  Dims index(dims.size(), 0);
  while (true) {
    if (!f(static_cast<const Dims&>(index))) return false;
    std::size_t axis = dims.size();
    while (axis-- > 0) {
      if (++index[axis] < dims[axis]) break;
      index[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1)) return true;
  }
}

inline std::int64_t offsetOf(const Dims& index, const Dims& strides) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return offset;
}

}  // namespace fusescope::ops
