#pragma once

#include "backends/tactic.h"
#include "planning/plan.h"

namespace fusescope {

/// Returns the properties of `numerics` that the contract of `fused` does not allow; the result is exact if all are
/// allowed. A contract with an integer accumulate type requires exact sums: they must not saturate, nor be made of
/// products in a narrower type. If the fused node calculates only integers, flushing denormals is not allowed either;
/// floats are rounded in any case and may be flushed. Emulation is always allowed.
Numerics beyondContract(const Plan& plan, const FusedNode& fused, const Numerics& numerics);

}  // namespace fusescope
