#pragma once

#include "planning/plan.h"

namespace fusescope {

/// `options` without what asks for types and tactics: the plan of them calculates in float32.
PlanOptions withoutLoweredTypes(const PlanOptions& options);
/// Whether a plan, or that of one of its bodies, calculates or stores floats in less than float32, whoever asked for
/// it: the file or a wish.
bool roundsBelowF32(const Plan& plan);

}  // namespace fusescope
