#pragma once

#include <vector>

#include "base/data_type.h"
#include "calibration/priced_products.h"

namespace fusescope {

/// Products of one input that run one by one, since that takes less than as one kernel.
struct ParallelApart {
  std::vector<NodeId> products;
  double togetherMs = 0, apartMs = 0;
};

/// What prices decide of a plan. Empty tables: nothing.
struct PriceChoices {
  PricedIntegers integers;           ///< by node of the network before it was quantised
  std::vector<DataType> types;       ///< by NodeId; Undefined: prices choose no type for it
  std::vector<ParallelApart> apart;  ///< products that run faster on their own than with those beside them
  std::size_t typesWeighed = 0;      ///< of more than two types how many were weighed in pairs; 0: there are no more

  bool any() const { return !integers.empty() || !types.empty() || !apart.empty(); }
  /// By NodeId below `limit`: whether it is among `apart`; empty where none is.
  std::vector<char> isApart(std::size_t limit) const;
};

}  // namespace fusescope
