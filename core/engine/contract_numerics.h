#pragma once

#include "backends/tactic.h"
#include "planning/plan.h"

namespace fusescope {

/// What of `numerics` the contract of `fused` does not allow; exact: nothing. A contract that sums integers says that
/// the sums are exact: they are not clamped on the way, nor made of products in a narrower type. One that calculates
/// nothing but integers says that all is. Floats are rounded anyway, and may be flushed. Emulation is always right.
Numerics beyondContract(const Plan& plan, const FusedNode& fused, const Numerics& numerics);

}  // namespace fusescope
