#pragma once

#include <vector>

#include "diff/plan_diff.h"
#include "diff/plan_levels.h"

namespace fusescope {

/// Names the causes of changes between two read-back plans of one compiler, which is not asked again. If the inputs of
/// the plans differ in one thing, this thing caused every change. Otherwise a change has the causes that what both
/// report shows: a directive for its nodes that only one side has; the precision or hint, if its nodes calculate in
/// types that only one side asked for. In both cases an optimiser that made kernels of the change on one side, and that
/// the options of the other side leave out, is named with these options. Sets PlanDiff::causesKnown. Does nothing if
/// one side is our own plan, or if two compilers made them.
void nameMadeCauses(const std::vector<PlanLevel>& levels, PlanDiff& diff);

}  // namespace fusescope
