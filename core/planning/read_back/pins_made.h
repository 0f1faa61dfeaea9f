#pragma once

#include <string>
#include <vector>

#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// A pin with `obey` that the compiler does not obey, or of which it does not say whether it obeys.
struct UnobeyedPin {
  std::string node;
  Cause by;  ///< the directive
  PinResult result = PinResult::Ignored;
  std::string words;  ///< what the compiler did, and why: it follows "node 'relu' "
};

/// Returns these pins of what a compiler made, in the order of the graph. A pin on a node that no kernel calculates is
/// not one of them, because nothing has another type than was asked for. Pins that the plan refuses are those of
/// obeyRefusals(). There are none for a Plan.
std::vector<UnobeyedPin> unobeyedPins(const Cover& made);

/// Returns the types that were asked of nodes, and what the compiler did with them: a list whose entries have the keys
/// of a pin that planning/FORMAT.md describes. It is empty for a Plan.
Json pinsMadeJson(const Cover& made);

}  // namespace fusescope
