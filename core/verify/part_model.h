#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/kernel_requests.h"

namespace fusescope {

/// Some nodes of a plan as a network of their own, planned so that they calculate in the types that they calculate in
/// there. Values and nodes keep their names.
struct Part {
  std::shared_ptr<const Plan> plan;
  std::vector<std::string> inputs;  ///< of the part: what its nodes read and none of them makes, but constants
};

/// `nodes` of the plan that `requests` is of, at its extents. What is read outside or by nobody is an output. With
/// `apart` nothing fuses. Bodies go along with the nodes that have them. Errors: something with unknown extents.
Result<Part> partOf(const Plan& plan, const KernelRequests& requests, std::vector<NodeId> nodes, bool apart,
                    const StopToken& stop);

/// The same, planned for `target` as `compiler` is to compile it.
Result<Part> partFor(const Plan& plan, const KernelRequests& requests, std::vector<NodeId> nodes,
                     const std::string& compiler, const std::string& target, const StopToken& stop);

}  // namespace fusescope
