#pragma once

#include "compilers/compiler.h"

namespace fusescope {

/// Checks that `compiler` has an option for each limit that `options` set, such as --workspace. Errors: it has none for
/// one of them, so that the limit would be ignored silently.
Status checkLimits(const Compiler& compiler, const PlanOptions& options);

/// Returns why `compiler`, which is not our own, compiles a network again when only its weights change, as a clause
/// that follows "because".
std::string whyNoRefit(const Compiler& compiler);

}  // namespace fusescope
