#pragma once

#include <span>

#include "backends/backend.h"
#include "base/stop.h"

namespace fusescope {

/// The largest rms of what convolutions and products inside a region give on `inputs` (as FusedNode::inputs): their
/// sums are off by a share of that, however small what a Clip or a Softmax leaves of them is. 0: there are none, or
/// its nodes cannot be run on these inputs.
double rmsOfInnerProducts(const KernelRequest& request, std::span<const Tensor> inputs, const StopToken& stop);

/// Over the elements that are finite; 0 if there are none.
double rmsOf(const Tensor& tensor);

}  // namespace fusescope
