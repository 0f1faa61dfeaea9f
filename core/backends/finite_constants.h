#pragma once

#include "ir/tensor.h"

namespace fusescope {

/// Whether a constant holds NaN or an infinity, or is too large to be looked at. Code may depend on it: equal regions
/// share code only where it is the same of all their constants (codeKey()).
bool mayBeNotFinite(const Tensor& constant);

}  // namespace fusescope
