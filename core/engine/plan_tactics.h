#pragma once

#include "engine/kernel_requests.h"
#include "engine/tactic_chooser.h"

namespace fusescope {

/// How a fused node is to run: one of its ways.
struct PlannedTactic {
  KernelRequest request;
  TacticWays ways;
  std::size_t way = 0;
  const Tactic& tactic() const { return ways.tactics[way]; }
};

/// A form in which a network's output or a marked value is handed out.
struct HandedOut {
  ValueId value;
  DataType type = DataType::Undefined;
};

/// What formats and tactics are planned for.
struct TacticPlanRequest {
  const Plan* plan = nullptr;
  const KernelRequests* requests = nullptr;
  std::vector<HandedOut> outputs;
  StopToken stop{};
  Progress progress{};
};

/// Gathers the ways of all fused nodes that run by a kernel, then chooses formats and tactics for the whole program by
/// least total time (format_planner.h). Nodes that keep the format of what they read are offered every format in which
/// that may come. Errors: nothing can run a node (located), cancellation.
Result<std::map<FusedNodeId, PlannedTactic>> planTactics(const TacticPlanRequest& request, TacticChooser& chooser);

}  // namespace fusescope
