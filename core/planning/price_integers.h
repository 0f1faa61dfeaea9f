#pragma once

#include "calibration/quantize_graph.h"
#include "planning/plan.h"

namespace fusescope {

/// Which products are faster in integers, where --precision names int8 and a float: the least time of kernels and of
/// what quantises between them together, by a minimum cut over the plan without integers and the one that has them
/// wherever rules let it. Empty where int8 is not asked for, or alone. Products without a known time on both sides
/// follow the rules. `model`: nothing was quantised in it yet. Errors: those of planning.
Result<PricedIntegers> integersByPrice(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                       const PriceModel* prices, const StopToken& stop);

}  // namespace fusescope
