#pragma once

#include "ir/tensor.h"

namespace fusescope {

/// Values in [-1, 1] that differ, f32 and always the same: what kernels are measured on.
Tensor differingFloats(Dims dims);

}  // namespace fusescope
