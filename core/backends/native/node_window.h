#pragma once

#include "ir/tensor_type.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// Kernel, stride, dilation and padding of a convolution or pooling node, one of each per spatial axis, with auto_pad
/// resolved. `padEnd` is the padding that gives the extents of the output, which ceil_mode may make larger than the
/// attribute.
struct Window {
  Dims kernel, strides, dilations, padBegin, padEnd;
};

/// `input` and `output` are full extents [N, C, spatial…]; `kernel` is that of the weights if the node has no
/// kernel_shape.
Window windowOf(const Node& node, const Dims& input, const Dims& output, Dims kernel);
/// Returns the same for a transposed convolution, whose padding is cut off its result.
Window transposedWindowOf(const Node& node, const Dims& input, const Dims& output, Dims kernel);

}  // namespace fusescope::native
