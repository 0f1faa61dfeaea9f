#pragma once

#include <cstddef>
#include <vector>

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

}  // namespace fusescope
