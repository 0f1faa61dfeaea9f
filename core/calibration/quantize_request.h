#pragma once

#include <span>
#include <string>

#include "base/stop.h"
#include "calibration/priced_products.h"
#include "calibration/ranges.h"
#include "calibration/weight_only.h"

namespace fusescope {

/// What directives and options request for a node.
struct NodeQuantizeRequest {
  enum class Kind {
    None,
    Integers,  ///< a pin to int8
    Floats,    ///< a pin to a float type: its operands are not codes, and its weights stay floats
    Excluded,  ///< excluded by a pattern of the ranges
    Fallback   ///< it runs on the reference backend, in the model's types
  };
  Kind kind = Kind::None;
  std::string by;  ///< the pattern or option
};

struct QuantizeRequest {
  const Ranges* ranges = nullptr;                     ///< null: only weights are quantised
  std::span<const NodeQuantizeRequest> nodeRequests;  ///< by NodeId
  bool everyNode = false;  ///< int8 wherever rules allow it; otherwise only for nodes with Kind::Integers
  bool symmetric = false;  ///< signed codes without zero points; otherwise unsigned codes of the whole range
  WeightOnly weightOnly{};
  /// For products that the rules would quantise; products that are not in it follow the rules.
  PricedIntegers priced{};
  StopToken stop{};
};

}  // namespace fusescope
