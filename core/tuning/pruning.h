#pragma once

#include <span>

#include "tuning/evaluations.h"

namespace fusescope {

/// Takes pins out of `pins`, which meets the goal, until the goal is not met without any one of those that are left:
/// first what changes nothing in the plan, then groups, halves of them first, then single nodes. `order`: all nodes,
/// the one first that is to go first. `most`: what is left costs no more than this.
Result<TunePoint> pruned(Evaluations& evaluations, const TunePoint& pins, std::span<const std::uint32_t> order,
                         const std::optional<PlanCost>& most = std::nullopt);

}  // namespace fusescope
