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
  std::string note;       ///< why it was not run, or not on all cases; what it does not keep
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

/// Runs every tactic that `backend` offers and the contract allows on every case. Right is: within 2 units in the last
/// place of the stored type, 1e-5 of rms (or of the rms of what a product inside gives) and 1e-5 of the number itself,
/// where the contract narrows an inner edge also one unit of that type (as of 1) of rms: sums that differ in their last
/// bit round to other neighbours there; codes that the region quantises to: one step, and what one step of codes that
/// it quantises to inside comes to; other integers, truth values, NaN and infinities: the same. What becomes of the
/// case that is not finite is noted, and not wrong: whether a Relu passes NaN on and in which order infinities meet is
/// each kernel's own, and ONNX does not say. So are denormals that keep but few digits: what a norm divides by makes
/// the last one of a mean large. Zero in place of one is wrong. Errors: the region cannot be prepared at all;
/// cancellation.
Result<RegionCheck> checkRegion(const Backend& backend, const KernelRequest& request, std::span<const RegionCase> cases,
                                KernelStore& store, const StopToken& stop);

}  // namespace fusescope
