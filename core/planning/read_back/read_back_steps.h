#pragma once

#include <cstdint>
#include <vector>

#include "planning/read_back/read_back_plan.h"

namespace fusescope {

class Graph;

// The steps of readBackPlan() that do not need the builder.

/// Returns the order of `kernels`, as indices into them: producers before consumers, also if there are nodes without a
/// kernel between them. Otherwise the given order is kept, also for kernels that read each other's results in a cycle,
/// as kernels that share nodes may. `holders` has by NodeId the kernels that contain it, ascending.
std::vector<std::uint32_t> runOrder(const Graph& graph, const std::vector<FusedNode>& kernels,
                                    const std::vector<std::vector<std::uint32_t>>& holders);

/// Returns the result of each pin. If `readBack` reports a result, it is used; otherwise the result follows from the
/// kernels of `made`, and its cause from the hindrances in `readBack`, the plan that was asked for, fates and regions.
std::vector<ReadBackPin> pinsOf(const ReadBackPlan& made, const ReadBack& readBack);

/// Returns a decision for each pin of `made` that `reported` does not contain: what happened to it.
std::vector<Decision> pinDecisions(const ReadBackPlan& made, const std::vector<ReadBackPin>& reported);

/// Returns a decision for each node after which a split was asked for, and for each way of fusing that the compiler was
/// asked to leave out: whether the kernels of `made` obey it.
std::vector<Decision> directiveDecisions(const ReadBackPlan& made);

}  // namespace fusescope
