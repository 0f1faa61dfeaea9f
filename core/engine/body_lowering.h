#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/lowering.h"

namespace fusescope {

/// What a node with bodies reads or leaves: without extents where they are known only while it runs.
struct BorderType {
  DataType type = DataType::Undefined;
  std::optional<Dims> dims;
};

struct LoweredBodies {
  std::shared_ptr<BodyStep> step;
  bool emulated = false;  ///< a step of a body is
};

/// Whether the bodies of a fused node have plans, so that it runs by them.
bool hasPlannedBodies(const Plan& plan, const FusedNode& fused);

/// Prepares an If, Loop or Scan: `node` with its constants, `inputs` and `outputs` as FusedNode has them. Where extents
/// are known the bodies are lowered at once, by `around`, the request that the graph around it is lowered by; else
/// for the extents that they meet. What `around` and `chooser` refer to must outlive the step.
Result<LoweredBodies> lowerBodies(const KernelRequest& node, const std::vector<BorderType>& inputs,
                                  const std::vector<BorderType>& outputs, const LoweringRequest& around,
                                  TacticChooser& chooser);

}  // namespace fusescope
