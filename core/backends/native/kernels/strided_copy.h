#pragma once

#include <cstddef>
#include <cstdint>

#include "base/small_vector.h"
#include "ir/tensor_type.h"

namespace fusescope::native {

/// A prepared copy of a strided box of elements: axes of extent 1 are removed, adjacent axes are merged, and the
/// fastest axis of the source is known. Strides are in elements; a source stride of 0 repeats an element. It moves
/// bits, so that only the element size (1, 2, 4, 8 or 16 bytes) matters and not the type.
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
