#pragma once

#include <vector>

#include "base/data_type.h"
#include "ir/decision.h"
#include "ir/graph.h"

namespace fusescope {

/// What prices decide of a plan. Empty tables: nothing.
struct PriceChoices {
  std::vector<DataType> types;      ///< by NodeId; Undefined: prices choose no type for it
  std::vector<char> apart;          ///< by NodeId: a product that runs faster on its own than with those beside it
  std::vector<Decision> decisions;  ///< precision.search_bounded, fuse.parallel_slower
};

/// What the JSON of a plan says that prices decided. Errors: those of decisionFromJson(); a missing field throws.
Result<PriceChoices> recordedChoices(const Graph& graph, const Json& plan);

}  // namespace fusescope
