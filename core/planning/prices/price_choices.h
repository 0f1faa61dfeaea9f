#pragma once

#include <vector>

#include "base/data_type.h"
#include "calibration/priced_products.h"

namespace fusescope {

/// Products of one input that run as separate kernels, because that takes less time than one kernel.
struct SeparateProducts {
  std::vector<NodeId> products;
  double togetherMs = 0, apartMs = 0;
};

/// What prices decided in a plan. Empty tables mean that they decided nothing.
struct PriceChoices {
  PricedIntegers integers;                 ///< by node of the network before quantisation
  std::vector<DataType> types;             ///< by NodeId; Undefined if prices choose no type for the node
  std::vector<SeparateProducts> separate;  ///< products that run faster as separate kernels
  std::size_t typesWeighed = 0;  ///< how many types were compared in pairs, if there are more than two; otherwise 0

  bool any() const { return !integers.empty() || !types.empty() || !separate.empty(); }
  /// Returns by NodeId, below `limit`, whether the node is in `separate`; empty if `separate` is.
  std::vector<char> isSeparate(std::size_t limit) const;
};

}  // namespace fusescope
