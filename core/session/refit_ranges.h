#pragma once

#include <vector>

#include "ir/decision.h"
#include "planning/plan.h"

namespace fusescope {

/// Whether the ranges that `plan` quantises by fit its weights. Weights that reach beyond what their recorded ranges
/// hold are clamped (quantize.range_outgrown), weights that need less than half of it lose a bit and more
/// (quantize.range_loose). Of activations it cannot be told without inputs (quantize.range_unchecked). Nothing where
/// the plan has no ranges. Errors: cancelled.
Result<std::vector<Decision>> rangesAgainstWeights(const Plan& plan, const StopToken& stop = {});

}  // namespace fusescope
