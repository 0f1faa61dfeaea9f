#include "engine/kernels/contract_numerics.h"

#include <algorithm>

#include "planning/fused_node_facts.h"

namespace fusescope {

Numerics beyondContract(const Plan& plan, const FusedNode& fused, const Numerics& numerics) {
  Numerics broken;
  if (!isInteger(fused.accumulate)) return broken;
  broken.saturates = numerics.saturates;
  broken.fastMath = numerics.fastMath;
  const bool hasFloats = std::ranges::any_of(calculatedTypes(plan, fused), isFloat);
  broken.flushes = numerics.flushes && !hasFloats;
  return broken;
}

}  // namespace fusescope
