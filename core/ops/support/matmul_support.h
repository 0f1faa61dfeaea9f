#pragma once

#include "ops/op_schema.h"

namespace fusescope::ops {

/// The extents of a matrix product of any two ranks, as numpy's matmul.
Result<Shape> matmulShape(const InferContext& context, const Shape& a, const Shape& b);

/// A matrix product as a batch of [m, k] · [k, n]; strides count whole matrices.
struct MatMulExtents {
  Dims batch, stridesA, stridesB;
  std::int64_t m = 1, k = 1, n = 1;
};
/// `a` and `b` must have passed matmulShape().
MatMulExtents matmulExtents(const Dims& a, const Dims& b);

std::int64_t matmulFlops(const Node& node, std::span<const Dims> inputs, std::span<const Dims> outputs);

}  // namespace fusescope::ops
