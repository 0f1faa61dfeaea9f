#pragma once

#include <memory>

#include "analysis/cost.h"
#include "planning/plan.h"

namespace fusescope {

/// How many elements a value usually has. Nothing where that cannot be told from the inputs' usual extents.
std::optional<std::int64_t> usualElements(const UsualExtents& extents, ValueId value);

/// Writes what `prices` says into fused nodes, casts and the plan. Null: nothing is predicted.
void predictTimes(Plan& plan, const PriceModel* prices);

/// How much of a cover's kernels and conversions is priced, and how.
struct PredictedTime {
  double measuredMs = 0, fittedMs = 0;  ///< of those whose time is one number
  double leastMs = 0, mostMs = 0;       ///< of all that is known: they differ where a branch is not yet taken
  std::int64_t unknown = 0;             ///< kernels and conversions without a price
};
PredictedTime predictedTime(const Cover& cover);

/// The prices that a plan's JSON holds, for the plan made again from it. Not believed: those of an earlier version of
/// the format (some were of the emulator), and those of types that the plan's target does not really run. Null where it
/// holds none.
std::unique_ptr<PriceModel> recordedPrices(const Model& model, const Json& plan);

}  // namespace fusescope
