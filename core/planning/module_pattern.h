#pragma once

#include <string>

#include "base/json.h"
#include "planning/match_pattern.h"
#include "planning/module_tree.h"
#include "planning/plan.h"

namespace fusescope {

/// The pattern `module:PATH` of directives, if it names just the nodes of the module; empty: it names others too, or
/// not all of them, or none, as that of a run. `matcher`: of the network without what quantised it, `graph`: of the
/// network whose module it is.
std::string exactPattern(PatternMatcher& matcher, const Graph& original, const Graph& graph, const Module& module);

/// The modules of a plan's network: paths, titles, nodes, how many of them `module:PATH` names, the kernels that have
/// all their nodes in each, and what these come to. Sorted so that a module comes before those in it.
Json modulesJson(const Plan& plan, const ModuleTree& tree);

}  // namespace fusescope
