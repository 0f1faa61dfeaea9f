#pragma once

#include "base/json_fwd.h"
#include "planning/read_back/agreement.h"

namespace fusescope {

struct Plan;
struct ReadBackPlan;

/// Returns whether `plan` predicts what `made` reports: both are of one network with the same ids, were asked for with
/// the same types and directives, and `plan` was made for the compiler of `made`, or for a target that is only planned
/// and that `made` was compiled for.
bool isPredictionOf(const Plan& plan, const ReadBackPlan& made);
/// Compares `predicted` with the kernels and types of `made`. isPredictionOf() must be true, or `predicted` must be the
/// plan that was asked for.
Agreement agreementOf(const Plan& predicted, const ReadBackPlan& made);

/// Returns the keys of `agreement` that planning/FORMAT.md describes; null if there are no edges.
Json toJson(const Agreement& agreement);

}  // namespace fusescope
