#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/stop.h"
#include "engine/kernel_store.h"
#include "verify/region_cases.h"

namespace fusescope {

/// What one tactic of a region gave against the region's own nodes, run one by one by the reference.
struct TacticCheck {
  std::string name;
  bool ok = true;
  double maxOverRms = 0;  ///< the most of all cases and outputs: max|Δ| over the rms of what is expected
  std::string worstCase;  ///< the case that has it; empty: nothing differs
  /// It is further than a rounding at the end explains, and right because the region's own nodes give as much where
  /// they round otherwise inside. Of a tactic that is wrong: it is further, whatever they give.
  bool isWide = false;
  std::string note;  ///< why it was not run, or not on all cases; what it does not keep
};

/// The first that was wrong; one on an edge value only if nothing else is.
struct RegionFailure {
  std::string tactic, caseName, output;
  std::string what;            ///< for people: "element 3 is 1.5, expected is 1.25"
  std::vector<Tensor> inputs;  ///< as RegionCase::inputs
  bool isEdge = false;         ///< as RegionCase::isEdge
};

struct RegionCheck {
  std::vector<TacticCheck> tactics;
  std::optional<RegionFailure> failure;
};

/// Runs every tactic that `backend` offers and the contract allows on every case. Right is what ElementBounds holds
/// for: near to what the region's own nodes give, element by element, or to what they give with the noise of
/// RoundingNoise, run after run until all elements hold. A kernel that leaves roundings of the contract out is wrong as
/// well. On inputs that are not finite it is wrong to lose NaN; anything else that becomes of those is noted. Errors:
/// the region cannot be prepared at all; cancellation.
Result<RegionCheck> checkRegion(const Backend& backend, const KernelRequest& request, std::span<const RegionCase> cases,
                                KernelStore& store, const StopToken& stop);

}  // namespace fusescope
