#pragma once

#include <cstdint>
#include <optional>

#include "planning/cover.h"

namespace fusescope {

/// The totals of a cover.
struct PlanTotals {
  std::int64_t fusedNodes = 0, casts = 0;
  std::optional<std::int64_t> flops = 0, bytes = 0;  ///< null if an extent is unknown; bytes include conversions
  std::optional<CostRange> range;  ///< null if extents are fixed; its times are null unless all times are known
};

/// Returns the totals of the cover without its bodies: a node with bodies counts as one fused node that moves its
/// inputs and outputs.
PlanTotals totalsWithoutBodies(const Cover& cover);

/// The totals of all bodies at every depth, as if each ran once.
struct BodyTotals {
  std::int64_t bodies = 0;
  PlanTotals inside;
};
BodyTotals totalsOfBodies(const Cover& cover);

/// How much of a cover's kernels and conversions has a price, and from which source.
struct PredictedTime {
  double measuredMs = 0, fittedMs = 0;  ///< sums of those with a single known time
  double leastMs = 0, mostMs = 0;       ///< sums of all known times; they differ if a branch is not known
  std::int64_t unknown = 0;             ///< the number of kernels and conversions without a price
};
PredictedTime predictedTime(const Cover& cover);

}  // namespace fusescope
