#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/stop.h"
#include "engine/kernels/kernel_store.h"
#include "verify/region_cases.h"

namespace fusescope {

/// The comparison of one tactic of a region with the region's own nodes, which the reference backend runs one by one.
struct TacticCheck {
  std::string name;
  bool ok = true;
  double maxOverRms = 0;  ///< the largest of all cases and outputs: max|Δ| divided by the rms of the expected values
  std::string worstCase;  ///< the case with this error; empty if nothing differs
  /// For a right tactic: its error is larger than a rounding at the end explains, and it is right because the region's
  /// own nodes have such errors too if they round differently inside. For a wrong tactic: its error is larger than
  /// that, whatever they give.
  bool isWide = false;
  std::string note;  ///< why it was not run, or not on all cases, or what it does not preserve
};

/// The first wrong result. A result on an edge value is reported only if there is no other.
struct RegionFailure {
  std::string tactic, caseName, output;
  std::string what;            ///< for people: "element 3 is 1.5, expected 1.25"
  std::vector<Tensor> inputs;  ///< RegionCase::inputs
  bool isEdge = false;         ///< RegionCase::isEdge
};

struct RegionCheck {
  std::vector<TacticCheck> tactics;
  std::optional<RegionFailure> failure;
};

/// Runs every tactic that `backend` offers and the contract allows on every case. A result is right if ElementBounds
/// accepts it: each element is near to the result of the region's own nodes, or to their result with the noise of
/// RoundingNoise, where runs with noise are added until all elements are accepted. A kernel that omits roundings of the
/// contract is wrong as well. On inputs that are not finite, it is wrong to lose NaN; other differences are only noted.
/// It is an error if the region cannot be prepared at all, or if `stop` was requested.
Result<RegionCheck> checkRegion(const Backend& backend, const KernelRequest& request, std::span<const RegionCase> cases,
                                KernelStore& store, const StopToken& stop);

}  // namespace fusescope
