#pragma once

#include "ir/tensor.h"

namespace fusescope {

/// Returns whether a constant contains NaN or an infinity, or is too large to be checked. Code may depend on the
/// answer, so that equal regions share code only if it is the same for all their constants (codeKey()).
bool mayBeNotFinite(const Tensor& constant);

}  // namespace fusescope
