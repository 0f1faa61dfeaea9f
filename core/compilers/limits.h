#pragma once

#include "compilers/compiler.h"

namespace fusescope {

/// The error that `options` set a limit that `compiler` cannot be told: it would be ignored without a word.
Status checkLimits(const Compiler& compiler, const PlanOptions& options);

}  // namespace fusescope
