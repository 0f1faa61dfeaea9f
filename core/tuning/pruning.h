#pragma once

#include <span>

#include "tuning/evaluations.h"

namespace fusescope {

/// Removes pins from `pins`, which meet the goal, until every remaining pin is necessary: first pins that change
/// nothing in the plan, then groups (first halves of all groups), then single nodes. `order` lists all nodes, beginning
/// with the one to be removed first. If `most` is given, the result must not cost more.
Result<TunePoint> pruned(Evaluations& evaluations, const TunePoint& pins, std::span<const std::uint32_t> order,
                         const std::optional<PlanCost>& most = std::nullopt);

}  // namespace fusescope
