#pragma once

#include <string>

#include "planning/plan.h"

namespace fusescope {

/// Returns the name of the compiler whose kernels our rules only predict for `plan`: that of the plan, or the target if
/// the plan is made for an engine that was built elsewhere. Empty if our own compiler is to run the plan, or if there
/// is no compiler.
std::string predictedCompiler(const Plan& plan);

}  // namespace fusescope
