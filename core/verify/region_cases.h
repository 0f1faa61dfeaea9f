#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace fusescope {

/// A set of inputs on which a region is run.
struct RegionCase {
  std::string name;            ///< "given", "random 0", "zeros", "denormals", "large", "NaN and infinities"
  std::vector<Tensor> inputs;  ///< in the order of FusedNode::inputs, in the types that the kernel reads
  bool isEdge = false;         ///< zeros, denormals, large, NaN: values that a network rarely has
  bool denormals = false;      ///< cannot be used to judge a tactic that treats denormals as zero
};

/// Makes a case of `given`, the values of the region's inputs in a run of its network, rounded to the types that it
/// reads.
RegionCase givenCase(const KernelRequest& request, std::string name, std::span<const Tensor> given);

/// Makes cases in which random numbers (`seeds` times) and edge values replace the floats of `given`; none if the
/// region reads no floats. Other inputs are not changed, because indices and masks have a meaning.
std::vector<RegionCase> madeCases(const KernelRequest& request, std::span<const Tensor> given, int seeds);

}  // namespace fusescope
