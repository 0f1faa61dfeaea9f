#pragma once

#include "base/json.h"
#include "planning/plan.h"

namespace fusescope {

/// The options of a plan as they stand in its JSON: enough to make the plan again. planning/FORMAT.md.
Json toJson(const PlanOptions& options);
Result<PlanOptions> planOptionsFromJson(const Json& json);

/// A plan as text for people and for golden files: segments, fused nodes with kind and members, casts.
std::string printPlan(const Plan& plan);

}  // namespace fusescope
