#pragma once

#include <memory>

#include "analysis/cost.h"
#include "base/json_fwd.h"
#include "planning/plan.h"
#include "planning/prices/price_model.h"

namespace fusescope {

/// Returns how many elements a value has at the usual extents of the inputs, or nothing if that is unknown.
std::optional<std::int64_t> usualElements(const ChosenExtents& extents, ValueId value);

/// Writes the times from `prices` into fused nodes, casts and the plan. If `prices` is null, nothing is predicted.
void predictTimes(Plan& plan, const PriceModel* prices);

/// Returns the prices that a plan's JSON contains, for the plan that is made again from it. Prices of an earlier
/// version of the format are ignored, because some were of the emulator, and so are prices of types that the plan's
/// target does not really run. Returns null if there are none.
std::unique_ptr<PriceModel> recordedPrices(const Model& model, const Json& plan);

}  // namespace fusescope
