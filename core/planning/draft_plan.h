#pragma once

#include <memory>

#include "planning/plan.h"

namespace fusescope {

/// makePlan() without its decisions: what directives cost is not asked, which takes most of the time where there are
/// many. For who tries many plans.
Result<std::shared_ptr<const Plan>> draftPlan(std::shared_ptr<const Model> model, const PlanOptions& options,
                                              const PriceModel* prices = nullptr, const StopToken& stop = {},
                                              const Plan* previous = nullptr);

}  // namespace fusescope
