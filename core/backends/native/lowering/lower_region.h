#pragma once

#include "backends/native/lowering/choice.h"
#include "backends/native/lowering/region_facts.h"

namespace fusescope::native {

/// The code of a fused node, and the kernels that were chosen for it, in the order of its steps.
struct LoweredRegion {
  std::unique_ptr<const Code> code;
  std::vector<Choice> choices;
};

/// Turns a fused node into a program by a walk over its nodes in the order of the graph. Each node or group of nodes is
/// handled by one of the emitters of kernels.inc, and the others run with the reference kernel of their operator.
/// Floats are f32 inside the program and are rounded as the contract requires (rounding.h), so that every fused node
/// that calculates in f32, bf16 or f16 can be lowered. Errors come from oneDNN or from constants without data.
Result<LoweredRegion> lowerRegion(const KernelRequest& request, LoweringOptions options);

/// Returns whether lowerRegion() can run the request: it calculates in f32, bf16, f16 or no float at all, or only moves
/// elements.
bool canLower(const KernelRequest& request);

}  // namespace fusescope::native
