#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "planning/plan.h"

namespace fusescope {

/// Returns a part of a plan's JSON ("fused_nodes", "casts", …) without predictions: only what the planner decided.
Json decidedPart(const Json& plan, const std::string& part);

/// Returns the decided parts in which `now` differs from `then`, the JSON of an earlier version. Keys that `then` does
/// not have are not compared.
std::vector<std::string> differingParts(const Json& then, const Json& now);

/// Prints a plan as text for people and for golden files: segments, fused nodes with kinds and nodes, and casts.
std::string printPlan(const Cover& cover);

}  // namespace fusescope
