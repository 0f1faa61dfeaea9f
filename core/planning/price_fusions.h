#pragma once

#include "planning/price_choices.h"
#include "planning/type_answers.h"

namespace fusescope {

/// Adds to `choices` the products of one input that take less time as separate kernels than as one kernel; the
/// difference must exceed the spread of both prices. Products stay together if one of the two prices is unknown,
/// because then their input is read only once. `together` is the layout with `choices`, in which they are together.
/// Returns whether any products were separated.
Result<bool> fusionsByPrice(const Layout& together, const PlanOptions& options, const PriceModel& prices,
                            const StopToken& stop, PriceChoices& choices);

}  // namespace fusescope
