#pragma once

#include <string>
#include <vector>

#include "analysis/set_groups.h"
#include "diff/plan_levels.h"

namespace fusescope {

/// Returns what the compilers of read-back sides report about the kernels of a group of fusedGroups() and what may
/// explain why they differ from the other side's: their regions, the types in which they calculate, types that were
/// requested but not used, conversions between them, and which assignments are guessed. The result consists of
/// sentences without a full stop. They are facts, and not necessarily the cause. It is empty if both sides are plans,
/// or if nothing relevant is reported.
std::vector<std::string> reportedFacts(const PlanLevel& level, const SetGroup& group);

}  // namespace fusescope
