#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/kernels/kernel_requests.h"

namespace fusescope {

/// Some nodes of a plan as a network of their own, planned with the types in which they calculate in that plan. Values
/// and nodes keep their names.
struct Part {
  std::shared_ptr<const Plan> plan;
  /// Inputs of the part: values that its nodes read and none of them makes, except constants.
  std::vector<std::string> inputs;
};

/// Makes the part of `nodes` of `plan` at the extents of `requests`, which is of this plan. Values that are read
/// outside or by no node are outputs. If `apart` is true, nothing is fused. Nodes keep their bodies. It is an error if
/// an extent is unknown.
Result<Part> partOf(const Plan& plan, const KernelRequests& requests, std::vector<NodeId> nodes, bool apart,
                    const StopToken& stop);

/// Does the same for `target`, planned for compilation by `compiler`.
Result<Part> partFor(const Plan& plan, const KernelRequests& requests, std::vector<NodeId> nodes,
                     const std::string& compiler, const std::string& target, const StopToken& stop);

}  // namespace fusescope
