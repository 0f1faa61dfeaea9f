#pragma once

#include "compilers/compiler.h"

namespace fusescope {

/// Checks that `compiler` has an option for each limit that `options` set, such as --workspace. Errors: it has none for
/// one of them, so that the limit would be ignored silently.
Status checkLimits(const Compiler& compiler, const PlanOptions& options);

}  // namespace fusescope
