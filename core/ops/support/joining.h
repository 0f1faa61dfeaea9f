#pragma once

#include <span>

#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope::ops {

// These functions join and cut whole tensors of any element type with the reference kernels of Concat and Slice.

/// Concatenates the parts along `axis`, which may be negative. There must be at least one part.
Result<Tensor> concatenated(std::span<const Tensor> parts, std::int64_t axis);
/// Joins the parts along a new axis `axis` of the result. There must be at least one part.
Result<Tensor> stacked(std::span<const Tensor> parts, std::int64_t axis);
/// Stacks the results of a body's iterations. If there was no iteration, the result has type `type` with extent 0 along
/// `axis` and in place of unknown extents; it is an error if the element type is unknown.
Result<Tensor> scanOutput(std::span<const Tensor> parts, std::int64_t axis, const TensorType& type);
/// Returns `count` indices of `axis` from `start` on; they must be inside the tensor.
Result<Tensor> sliceOf(const Tensor& tensor, std::size_t axis, std::int64_t start, std::int64_t count);
/// Returns the slice at one index of `axis`, without that axis.
Result<Tensor> placeOf(const Tensor& tensor, std::size_t axis, std::int64_t place);

}  // namespace fusescope::ops
