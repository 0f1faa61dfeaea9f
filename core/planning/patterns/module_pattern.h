#pragma once

#include <string>

#include "base/json_fwd.h"
#include "planning/patterns/match_pattern.h"
#include "planning/patterns/module_tree.h"
#include "planning/plan.h"

namespace fusescope {

class Graph;

/// Returns the pattern `module:PATH` for directives, if it matches exactly the nodes of the module. It is empty if the
/// pattern also matches other nodes, misses some, or matches none (as for a run). `matcher` and `original` are of the
/// network before quantisation; `graph` is of the network that contains `module`.
std::string exactPattern(PatternMatcher& matcher, const Graph& original, const Graph& graph, const Module& module);

/// Returns the modules of a plan's network as JSON: paths, titles, nodes, how many of them `module:PATH` matches, the
/// kernels that are completely in each module, and their totals. A module comes before the modules in it.
Json modulesJson(const Plan& plan, const ModuleTree& tree);

}  // namespace fusescope
