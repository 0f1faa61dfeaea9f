#pragma once

#include <memory>
#include <vector>

#include "planning/structure.h"

namespace fusescope {

/// The types that prices choose where --precision allows several, f32 always among them.
struct PricedTypes {
  std::vector<DataType> types;      ///< by NodeId; Undefined: prices choose nothing for it
  std::vector<Decision> decisions;  ///< precision.search_bounded, if more than two types made it inexact
};

/// Least time of kernels and conversions together. A type whose time is unknown is not taken where another's is known;
/// where none is known, a kernel takes the type that needs no conversion. Exact for two types (a minimum cut). Nothing
/// is chosen where no price is known at all, or where one type alone is asked for.
Result<PricedTypes> typesByPrice(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                 const PriceModel* prices, std::shared_ptr<const Structure> structure,
                                 const StopToken& stop);

}  // namespace fusescope
