#pragma once

#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/strided.h"

namespace fusescope::ops {

/// Computes z = f(a, b), where a and b are broadcast to the extents of `z`.
template <class A, class B, class Z, class F>
void mapPairs(const Tensor& a, const Tensor& b, Tensor& z, F f) {
  const A* left = a.data<A>().data();
  const B* right = b.data<B>().data();
  Z* to = z.mutableData<Z>().data();
  const Dims& dims = z.dims();
  forEachRun<3>(dims, {broadcastStrides(a.dims(), dims), broadcastStrides(b.dims(), dims), denseStrides(dims)},
                [&](const auto& at, const auto& step, std::int64_t count) {
                  for (std::int64_t k = 0; k < count; ++k)
                    to[at[2] + k] = f(left[at[0] + k * step[0]], right[at[1] + k * step[1]]);
                });
}

}  // namespace fusescope::ops
