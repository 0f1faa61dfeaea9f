#pragma once

#include <map>

#include "engine/steps/planned_tactic.h"

namespace fusescope {

/// Collects the ways of all fused nodes that run with a kernel, then chooses formats and tactics for the whole program
/// so that the total time is minimal (format_planner.h). Nodes that preserve the format of their input are offered
/// every format that the input may have. Errors: no tactic can run a node (located), cancellation.
Result<std::map<FusedNodeId, PlannedTactic>> planTactics(const TacticPlanRequest& request, TacticChooser& chooser);

}  // namespace fusescope
