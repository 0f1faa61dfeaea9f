#pragma once

#include <memory>

#include "planning/prices/price_choices.h"
#include "planning/structure.h"

namespace fusescope {

class PriceModel;

/// Chooses types by prices, if --precision allows several; f32 is always one of them. It minimises the total time of
/// kernels and conversions. A type whose time is unknown is not chosen if the time of another type is known; if no time
/// of a kernel is known, the kernel gets the type that needs no conversion. The choice is exact for two types (a
/// minimum cut); each further type is compared with f32 in turn until nothing changes. Nothing is chosen if no price is
/// known, or if only one type is asked for.
Result<PriceChoices> typesByPrice(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                  const PriceModel* prices, std::shared_ptr<const Structure> structure,
                                  const StopToken& stop);

}  // namespace fusescope
