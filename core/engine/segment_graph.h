#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/segment_compiler.h"
#include "engine/kernel_requests.h"

namespace fusescope {

/// A segment of a plan as what is compiled as a whole, and what its ids stand for in the plan's graph.
struct SegmentGraph {
  SegmentRequest request;
  std::vector<ValueId> inputs, outputs;  ///< as those of the request
  std::vector<NodeId> nodes;             ///< by NodeId of the request's graph
  std::vector<ValueId> values;           ///< by ValueId of the request's graph
  std::vector<Tensor> constants;         ///< as the request's weightSlots
};

/// `isHandedOut`: of a value, whether the caller of the program gets it. Errors: a constant without data.
Result<SegmentGraph> segmentGraph(const Plan& plan, const Segment& segment, const KernelRequests& requests,
                                  const std::function<bool(ValueId)>& isHandedOut);

/// Canonical bytes of all that the code of a segment depends on, up to its weights. Names do not count.
std::string segmentKey(const Backend& backend, const SegmentRequest& request);

/// Why an accelerated segment cannot be compiled as a whole: a node has a body, or something in it has extents that
/// depend on data. Nothing if it can.
std::optional<std::string> whyInParts(const Plan& plan, const Segment& segment, const std::vector<TensorType>& types);

/// What runs at once: a fused node, or all of a segment that is compiled as a whole.
struct RunUnit {
  const FusedNode* fused = nullptr;
  const Segment* segment = nullptr;  ///< one of the two is set
};
/// The units of a plan, producers first. `isWhole`: by SegmentId.
std::vector<RunUnit> runUnits(const Plan& plan, const std::vector<bool>& isWhole);

}  // namespace fusescope
