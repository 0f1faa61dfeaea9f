#pragma once

#include <memory>

#include "planning/price_choices.h"
#include "planning/structure.h"

namespace fusescope {

/// The types that prices choose where --precision allows several, f32 always among them: the least time of kernels and
/// conversions together. A type whose time is unknown is not taken where another's is known; where none is known, a
/// kernel takes the type that needs no conversion. Exact for two types (a minimum cut); of more, each is weighed
/// against f32 in turn until nothing changes. Nothing is chosen where no price is known at all, or where one type alone
/// is asked for.
Result<PriceChoices> typesByPrice(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                  const PriceModel* prices, std::shared_ptr<const Structure> structure,
                                  const StopToken& stop);

}  // namespace fusescope
