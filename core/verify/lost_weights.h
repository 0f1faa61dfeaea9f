#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "planning/plan.h"

namespace fusescope {

/// A weight that does not fit into the type in which a node reads it.
struct LostWeight {
  std::string name;
  DataType type = DataType::Undefined;
  double largest = 0;             ///< of its numbers, by magnitude
  double infinite = 0, zero = 0;  ///< shares of its numbers that become so and are not
};

/// Of what `nodes` read: weights of which a number becomes infinite, or 1 % and more become 0. Looks at each number.
/// Pure.
std::vector<LostWeight> lostWeights(const Plan& plan, std::span<const NodeId> nodes);
/// "weight w becomes infinite in f16: its numbers reach 9.79e+07", "12 % of weight w become 0 in f16".
std::string inWords(const LostWeight& weight);
Json toJson(const std::vector<LostWeight>& weights);  ///< [{name, type, largest, infinite, zero, message}]

}  // namespace fusescope
