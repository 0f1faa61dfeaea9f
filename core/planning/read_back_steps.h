#pragma once

#include <cstdint>
#include <vector>

#include "planning/read_back_plan.h"

namespace fusescope {

// The steps of readBackPlan() that stand on their own.

/// The order of `kernels`, as indices into them: producers before consumers, also where nodes without a kernel stand
/// between; else as they are, also where they read from one another in a circle, as kernels that share nodes may.
/// `holders`, by NodeId: the kernels that hold it, ascending.
std::vector<std::uint32_t> runOrder(const Graph& graph, const std::vector<FusedNode>& kernels,
                                    const std::vector<std::vector<std::uint32_t>>& holders);

/// Returns the result of each pin. If `told` reports a result, it is used; otherwise the result follows from the
/// kernels of `made`, and its cause from the hindrances in `told`, the plan that was asked for, fates and regions.
std::vector<ReadBackPin> pinsOf(const ReadBackPlan& made, const ReadBack& told);

/// Says of each pin of `made` that `told` does not have itself what became of it.
std::vector<Decision> pinDecisions(const ReadBackPlan& made, const std::vector<ReadBackPin>& told);

/// Of the kernels of `made` with those that were planned.
Agreement agreementOf(const ReadBackPlan& made);

}  // namespace fusescope
