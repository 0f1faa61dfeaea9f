#pragma once

#include <memory>

#include "planning/plan.h"

namespace fusescope {

/// Makes a plan without its decisions. It does not compute the cost of directives, which takes most of the time of
/// makePlan() if there are many. It is for callers that try many plans.
Result<std::shared_ptr<const Plan>> draftPlan(std::shared_ptr<const Model> model, const PlanOptions& options,
                                              const PriceModel* prices = nullptr, const StopToken& stop = {},
                                              const Plan* previous = nullptr);

}  // namespace fusescope
