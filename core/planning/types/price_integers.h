#pragma once

#include "calibration/quantize_graph.h"
#include "planning/plan.h"

namespace fusescope {

/// Chooses which products run in integers, if --precision names int8 and a float type. It minimises the total time of
/// kernels and of the quantisation between them by a minimum cut over two plans: one without integers, and one that
/// uses them wherever the rules allow it. The result is empty if int8 is not asked for or is the only type. Products
/// whose time is unknown in one of the plans follow the rules. `model` must not be quantised yet. Errors are those of
/// planning.
Result<PricedIntegers> integersByPrice(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                       const PriceModel* prices, const StopToken& stop);

}  // namespace fusescope
