#pragma once

#include <map>
#include <string>
#include <vector>

#include "verify/part_model.h"
#include "verify/region_check.h"

namespace fusescope {

/// A set of nodes that goes wrong on its own, none of which can be left out.
struct MinimalFailure {
  std::vector<std::string> nodes;
  Part part;
  std::map<std::string, Tensor> inputs;  ///< of the part, at the types that its network declares
  RegionFailure failure;                 ///< of the part
};

/// Takes nodes out of `fused`, which failed on `inputs` (as FusedNode::inputs), halves first, then single ones, as long
/// as what is left still goes wrong on what the reference makes of these inputs. Nothing if even all of its nodes do
/// not fail as a network of their own. Errors: cancellation, what cannot be built.
Result<std::optional<MinimalFailure>> minimalFailure(const Plan& plan, const KernelRequests& requests,
                                                     const FusedNode& fused, std::span<const Tensor> inputs,
                                                     const Backend& backend, KernelStore& store, const StopToken& stop);

}  // namespace fusescope
