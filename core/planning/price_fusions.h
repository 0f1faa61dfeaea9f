#pragma once

#include <memory>

#include "planning/price_choices.h"
#include "planning/structure.h"

namespace fusescope {

/// Adds to `choices` the products of one input that take less time one by one than as one kernel, by more than both
/// prices spread. Products whose price is not known in both ways stay together: then x is read once.
Status fusionsByPrice(const std::shared_ptr<const Model>& model, const PlanOptions& options, const PriceModel* prices,
                      const std::shared_ptr<const Structure>& structure, const StopToken& stop, PriceChoices& choices);

}  // namespace fusescope
