#pragma once

#include <string>
#include <vector>

#include "analysis/set_groups.h"
#include "diff/plan_levels.h"

namespace fusescope {

/// What the compilers of the sides that are read back tell of the kernels of a group of fusedGroups(), and what bears
/// on why they are not those of the other side: the regions that they are in, types that they calculate in, types that
/// were asked for and not made, conversions between them, and what of them is guessed. Sentences without their ends;
/// facts, which need not be the cause. Empty: both sides are plans, or nothing of the kind is told.
std::vector<std::string> toldFacts(const PlanLevel& level, const SetGroup& group);

}  // namespace fusescope
