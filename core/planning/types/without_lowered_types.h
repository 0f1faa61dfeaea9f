#pragma once

#include "planning/plan.h"

namespace fusescope {

/// Returns `options` without everything that asks for types and tactics; the plan of the result calculates in float32.
PlanOptions withoutLoweredTypes(const PlanOptions& options);
/// Returns `options` for a plan that our own compiler runs in place of another one.
PlanOptions forOwnCompiler(PlanOptions options);
/// Returns whether a plan, or the plan of one of its bodies, calculates or stores floats in a narrower type than
/// float32, because the file or a directive asks for it.
bool roundsBelowF32(const Plan& plan);

}  // namespace fusescope
