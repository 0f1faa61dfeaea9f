#pragma once

#include "ops/support/kernel_support.h"
#include "ops/support/strided.h"

namespace fusescope::ops {

/// Computes result[i, j, …] = input[maps[0][i], maps[1][j], …]. Where a map contains -1, the result is the first
/// element of `fill`, or zero if `fill` is null.
inline Result<Tensors> gatherMapped(const Tensor& input, const Dims& dims, const std::vector<Dims>& maps,
                                    const Tensor* fill) {
  return dispatchStorage(input.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(input.type(), dims));
    T* to = builder.elements().data();
    const T* from = elementsOf<T>(input).data();
    const T other = fill == nullptr ? T() : elementsOf<T>(*fill)[0];
    const Dims strides = denseStrides(input.dims());
    if (dims.empty()) {
      *to = *from;
      return Tensors{std::move(builder).finish()};
    }
    const std::size_t last = dims.size() - 1;
    const Dims outer(dims.begin(), dims.end() - 1);
    forEachIndex(outer, [&](const Dims& index) {
      std::int64_t base = 0;
      bool inside = true;
      for (std::size_t i = 0; i < last; ++i) {
        const std::int64_t place = maps[i][static_cast<std::size_t>(index[i])];
        inside = inside && place >= 0;
        base += place * strides[i];
      }
      for (const std::int64_t place : maps[last]) *to++ = inside && place >= 0 ? from[base + place] : other;
      return true;
    });
    return Tensors{std::move(builder).finish()};
  });
}

}  // namespace fusescope::ops
