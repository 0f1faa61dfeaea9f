#pragma once

#include "ops/op_schema.h"

namespace fusescope::ops {

/// Returns the shape of a matrix product of operands of any rank, as in numpy's matmul.
Result<Shape> matmulShape(const InferContext& context, const Shape& a, const Shape& b);

/// A matrix product as a batch of products [m, k] · [k, n]. The strides count whole matrices.
struct MatMulExtents {
  Dims batch, stridesA, stridesB;
  std::int64_t m = 1, k = 1, n = 1;
};
/// `a` and `b` must be extents that matmulShape() accepts.
MatMulExtents matmulExtents(const Dims& a, const Dims& b);

std::int64_t matmulFlops(const Node& node, std::span<const Dims> inputs, std::span<const Dims> outputs);

}  // namespace fusescope::ops
