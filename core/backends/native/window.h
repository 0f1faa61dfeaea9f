#pragma once

#include "ir/graph.h"

namespace fusescope::native {

/// Kernel, stride, dilation and padding of a convolution or pooling node, one of each per spatial axis, with auto_pad
/// resolved. `padEnd` is what makes the output's extents come out, which ceil_mode may make larger than the attribute.
struct Window {
  Dims kernel, strides, dilations, padBegin, padEnd;
};

/// `input`, `output`: full extents [N, C, spatial…]; `kernel`: of the weights where the node has no kernel_shape.
Window windowOf(const Node& node, const Dims& input, const Dims& output, Dims kernel);
/// The same of a transposed convolution, whose padding is what is cut off its result.
Window transposedWindowOf(const Node& node, const Dims& input, const Dims& output, Dims kernel);

}  // namespace fusescope::native
