#pragma once

#include <cstddef>
#include <cstdint>

#include "base/small_vector.h"
#include "ir/tensor_type.h"

namespace fusescope::native {

/// A copy of a strided box of elements, prepared: axes of extent 1 dropped, neighbours merged, the source's fastest
/// axis known. Strides are in elements; a source stride of 0 repeats. Moves bits, so the type does not matter, only the
/// element size (1, 2, 4, 8 or 16 bytes).
class StridedCopy {
 public:
  StridedCopy(const Dims& dims, const Dims& sourceStrides, const Dims& targetStrides, std::size_t elementBytes,
              int threads);
  void run(const std::byte* source, std::byte* target) const;

 private:
  struct Axis {
    std::int64_t extent, source, target;
  };
  template <class T>
  void runTyped(const std::byte* source, std::byte* target) const;

  SmallVector<Axis, 6> m_axes;  ///< outermost first; never empty unless there is nothing to copy
  bool m_empty = false;
  std::int64_t m_outer = 1;  ///< product of all axes but the last two
  std::size_t m_elementBytes;
  int m_threads;
};

}  // namespace fusescope::native
