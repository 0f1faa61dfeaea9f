#pragma once

#include <map>
#include <optional>

#include "base/ids.h"

namespace fusescope {

/// What prices decided about a product, if int8 may be chosen by time: the times of kernels in integers and in floats,
/// in ms. If one of them is unknown, both are null, and integers are used.
struct PricedProduct {
  bool integers = true;
  std::optional<double> integersMs, floatsMs;
  bool known() const { return integersMs && floatsMs; }
};
using PricedIntegers = std::map<NodeId, PricedProduct>;

}  // namespace fusescope
