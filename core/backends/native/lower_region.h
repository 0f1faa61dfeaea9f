#pragma once

#include "backends/native/choice.h"
#include "backends/native/region_facts.h"

namespace fusescope::native {

/// The code of a fused node, and the kernels that were chosen for it, in the order of its steps.
struct LoweredRegion {
  std::unique_ptr<const Code> code;
  std::vector<Choice> choices;
};

/// Turns a fused node into a program: a walk over its nodes in the order of the graph, in which each node or group of
/// nodes is taken by one of the emitters of kernels.inc, and what none of them takes runs by the reference kernel of
/// its operator. Floats are f32 inside, rounded as the contract says (rounding.h), so that every fused node that
/// calculates in f32, bf16 or f16 can be lowered. Errors come from oneDNN or from constants without data.
Result<LoweredRegion> lowerRegion(const KernelRequest& request, LoweringOptions options);

/// Whether lowerRegion() can run it: it calculates in f32, bf16, f16 or no float at all, or only moves elements.
bool canLower(const KernelRequest& request);

}  // namespace fusescope::native
