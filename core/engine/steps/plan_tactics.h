#pragma once

#include "engine/kernels/kernel_requests.h"
#include "engine/tactics/tactic_chooser.h"

namespace fusescope {

/// How a fused node will run: its request, its possible ways, and the one that was chosen.
struct PlannedTactic {
  KernelRequest request;
  TacticWays ways;
  std::size_t way = 0;
  const Tactic& tactic() const { return ways.tactics[way]; }
};

/// The type in which a network's output or a marked value is handed out.
struct HandedOut {
  ValueId value;
  DataType type = DataType::Undefined;
};

/// The input of planTactics().
struct TacticPlanRequest {
  const Plan* plan = nullptr;
  const KernelRequests* requests = nullptr;
  std::vector<HandedOut> outputs;
  StopToken stop{};
  Progress progress{};
};

/// Collects the ways of all fused nodes that run with a kernel, then chooses formats and tactics for the whole program
/// so that the total time is minimal (format_planner.h). Nodes that preserve the format of their input are offered
/// every format that the input may have. Errors: no tactic can run a node (located), cancellation.
Result<std::map<FusedNodeId, PlannedTactic>> planTactics(const TacticPlanRequest& request, TacticChooser& chooser);

}  // namespace fusescope
