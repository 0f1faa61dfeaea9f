#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "planning/plan.h"

namespace fusescope {

/// A weight with numbers that the type in which a node reads it cannot represent.
struct LostWeight {
  std::string name;
  DataType type = DataType::Undefined;
  double largest = 0;             ///< the largest magnitude of its numbers
  double infinite = 0, zero = 0;  ///< fractions of its numbers that become infinite or zero
};

/// Returns the weights of `nodes` of which a number becomes infinite, or at least 1 % become 0. It checks each number.
/// A pure function.
std::vector<LostWeight> lostWeights(const Plan& plan, std::span<const NodeId> nodes);
/// Returns "weight w becomes infinite in f16: its numbers reach 9.79e+07" or "12 % of weight w become 0 in f16".
std::string inWords(const LostWeight& weight);
Json toJson(const std::vector<LostWeight>& weights);  ///< [{name, type, largest, infinite, zero, message}]

}  // namespace fusescope
