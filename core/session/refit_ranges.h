#pragma once

#include <vector>

#include "ir/decision.h"
#include "planning/plan.h"

namespace fusescope {

/// Checks whether the ranges by which `plan` quantises fit its weights. Weights outside their recorded ranges are
/// clamped (quantize.range_outgrown); weights that need less than half of them lose at least one bit
/// (quantize.range_loose). Ranges of activations cannot be checked without inputs (quantize.range_unchecked). Returns
/// nothing if the plan has no ranges. Errors: cancelled.
Result<std::vector<Decision>> rangesAgainstWeights(const Plan& plan, const StopToken& stop = {});

}  // namespace fusescope
