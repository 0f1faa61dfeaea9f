#pragma once

#include <map>
#include <optional>

#include "base/ids.h"

namespace fusescope {

/// What prices say of products where int8 may be chosen by time: kernels of integers and of floats, in ms; null where
/// not both are known, and integers are taken.
struct PricedProduct {
  bool integers = true;
  std::optional<double> integersMs, floatsMs;
  bool known() const { return integersMs && floatsMs; }
};
using PricedIntegers = std::map<NodeId, PricedProduct>;

}  // namespace fusescope
