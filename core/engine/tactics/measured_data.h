#pragma once

#include "ir/tensor.h"

namespace fusescope {

/// Returns different f32 values in [-1, 1], the same on every call. Kernels are measured on them.
Tensor differingFloats(Dims dims);

}  // namespace fusescope
