#pragma once

#include "planning/price_choices.h"
#include "planning/type_answers.h"

namespace fusescope {

/// Adds to `choices` the products of one input that take less time one by one than as one kernel, by more than both
/// prices spread. Products whose price is not known in both ways stay together: then x is read once.
/// `together`: the layout under `choices`, where they stay together. Says whether any come apart.
Result<bool> fusionsByPrice(const Layout& together, const PlanOptions& options, const PriceModel& prices,
                            const StopToken& stop, PriceChoices& choices);

}  // namespace fusescope
