#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace fusescope {

/// What a region is run on.
struct RegionCase {
  std::string name;            ///< "given", "random 0", "zeros", "denormals", "large", "NaN and infinities"
  std::vector<Tensor> inputs;  ///< as FusedNode::inputs, at the types that the kernel reads
  bool isEdge = false;         ///< zeros, denormals, large, NaN: not what a network usually meets
  bool denormals = false;      ///< says nothing of a tactic that takes denormals for zero
};

/// `given`, values of the region's inputs in a run of its network, rounded to what it reads.
RegionCase givenCase(const KernelRequest& request, std::string name, std::span<const Tensor> given);

/// In place of the floats of `given` random ones, `seeds` times, and edge values; none for a region that reads no
/// floats. What is no float stays as given: indices and masks have a meaning.
std::vector<RegionCase> madeCases(const KernelRequest& request, std::span<const Tensor> given, int seeds);

}  // namespace fusescope
