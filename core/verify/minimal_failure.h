#pragma once

#include <map>
#include <string>
#include <vector>

#include "verify/part_model.h"
#include "verify/region_check.h"

namespace fusescope {

/// A set of nodes that gives wrong results on its own, and from which no node can be left out.
struct MinimalFailure {
  std::vector<std::string> nodes;
  Part part;
  std::map<std::string, Tensor> inputs;  ///< inputs of the part, in the types that its network declares
  RegionFailure failure;                 ///< the failure of the part
};

/// Removes nodes from `fused`, which failed on `inputs` (in the order of FusedNode::inputs), first halves and then
/// single nodes, as long as the rest still gives wrong results on what the reference computes from these inputs.
/// Returns nothing if not even all of its nodes fail as a network of their own. It is an error if `stop` was requested,
/// or if something cannot be built.
Result<std::optional<MinimalFailure>> minimalFailure(const Plan& plan, const KernelRequests& requests,
                                                     const FusedNode& fused, std::span<const Tensor> inputs,
                                                     const Backend& backend, KernelStore& store, const StopToken& stop);

}  // namespace fusescope
