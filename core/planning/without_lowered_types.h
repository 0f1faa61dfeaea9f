#pragma once

#include "planning/plan.h"

namespace fusescope {

/// `options` without what asks for types and tactics: the plan of them calculates in float32.
PlanOptions withoutLoweredTypes(const PlanOptions& options);

}  // namespace fusescope
