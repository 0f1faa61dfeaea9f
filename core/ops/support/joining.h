#pragma once

#include <span>

#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope::ops {

// Whole tensors put together and taken apart with the reference kernels of Concat and Slice: any element type.

/// The parts one behind the other along `axis`, which may count from the back. At least one part.
Result<Tensor> concatenated(std::span<const Tensor> parts, std::int64_t axis);
/// The parts side by side along a new `axis` of the result. At least one part.
Result<Tensor> stacked(std::span<const Tensor> parts, std::int64_t axis);
/// What a body gave in each iteration, stacked. If it never ran: `type` with no places along `axis` and 0 for unknown
/// extents; an error if the element type is not known.
Result<Tensor> scanOutput(std::span<const Tensor> parts, std::int64_t axis, const TensorType& type);
/// `count` places of `axis` from `start` on; they must be inside.
Result<Tensor> sliceOf(const Tensor& tensor, std::size_t axis, std::int64_t start, std::int64_t count);
/// The slice at one place of `axis`, which is gone from the result.
Result<Tensor> placeOf(const Tensor& tensor, std::size_t axis, std::int64_t place);

}  // namespace fusescope::ops
