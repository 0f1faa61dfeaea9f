#pragma once

#include <vector>

#include "ir/decision.h"

namespace fusescope {

/// Returns `catalogue` followed by the codes for engines that get new extents at run time.
std::vector<DecisionCode> withMetExtents(std::vector<DecisionCode> catalogue);

}  // namespace fusescope
