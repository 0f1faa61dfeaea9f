#pragma once

#include <memory>
#include <vector>

#include "backends/code.h"
#include "base/json.h"
#include "planning/plan.h"

namespace fusescope {

/// The plan that compilers made of segments: `planned`, with the fused nodes `made`, in ids of its graph, in place of
/// its own; its source is "read_back". What a compiler does not tell, as work and casts inside a segment, is not in it.
/// Errors: a segment of which a node is in none of `made`, or in two; a fused node that crosses segments.
Result<std::shared_ptr<const Plan>> readBackPlan(const Plan& planned, const std::vector<ReadBackNode>& made);

/// As an engine file keeps them: by names.
Json toJson(const std::vector<ReadBackNode>& made, const Graph& graph);
/// Errors: a name that the graph does not have.
Result<std::vector<ReadBackNode>> readBackFromJson(const Json& json, const Graph& graph);

}  // namespace fusescope
