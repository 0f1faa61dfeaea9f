#pragma once

#include <memory>
#include <vector>

#include "engine/steps/control_flow_step.h"
#include "engine/steps/lowering_request.h"

namespace fusescope {

struct LoweredBodies {
  std::shared_ptr<BodyStep> step;
  bool emulated = false;  ///< true if a step of one of the bodies is emulated
};

/// Returns whether the bodies of a fused node have plans, so that the node runs with programs made from these plans.
bool hasPlannedBodies(const Plan& plan, const FusedNode& fused);

/// Prepares an If, Loop or Scan. `node` includes its constants; `inputs` and `outputs` are in the order of FusedNode.
/// If all extents are known, the bodies are lowered at once by `lower`, with the options of `around`, the request
/// with which the surrounding graph is lowered; otherwise they are lowered when they are called with new extents.
/// Everything that `around` and `chooser` refer to must outlive the step.
Result<LoweredBodies> lowerBodies(const KernelRequest& node, const std::vector<BorderType>& inputs,
                                  const std::vector<BorderType>& outputs, const LoweringRequest& around,
                                  LowerPlan lower, TacticChooser& chooser);

}  // namespace fusescope
