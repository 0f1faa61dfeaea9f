#pragma once

#include "base/stop.h"
#include "diff/plan_diff.h"

namespace fusescope {

/// Compares two plans and finds the causes of changes. It is a pure function, except for `prices`, with which plans are
/// made again to find causes; without them no cause is found for types or fusions that were chosen by price. Another
/// compiler is not asked anything; nameMadeCauses() names what is known. Errors: cancelled.
Result<PlanDiff> diffPlans(const DiffInput& a, const DiffInput& b, const PriceModel* prices = nullptr,
                           const StopToken& stop = {});
/// Compares two plans without finding causes, which is fast.
PlanDiff changesBetween(const DiffInput& a, const DiffInput& b);

}  // namespace fusescope
