#pragma once

#include <vector>

#include "ir/decision.h"

namespace fusescope {

/// `catalogue` and behind it the codes of engines that meet extents while they run.
std::vector<DecisionCode> withMetExtents(std::vector<DecisionCode> catalogue);

}  // namespace fusescope
