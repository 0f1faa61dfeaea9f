#pragma once

#include "tuning/evaluations.h"

namespace fusescope {

// Searches that others do, on the same network, by the same evaluations. Nothing: they find no set that meets the goal.

/// As `polygraphy debug precision --mode bisect`: the fewest nodes from the front (or from the back) that meet the
/// goal, found by halving, as if more nodes were never worse.
Result<std::optional<TunePoint>> prefixBaseline(Evaluations& evaluations);
Result<std::optional<TunePoint>> suffixBaseline(Evaluations& evaluations);

/// Searches as NNCF's accuracy control does. Groups are ranked by the error that remains when each is pinned alone, and
/// are pinned one by one in this order. If pinning a group makes the error larger, the group is moved to the end and
/// the other groups are ranked again with the current pins. After three rankings the next group is pinned in any case.
Result<std::optional<TunePoint>> greedyBaseline(Evaluations& evaluations);

/// The smallest number of `count` for which `setOf` meets the goal, as if more were never worse; nothing if `setOf` of
/// all does not.
Result<std::optional<TunePoint>> bisect(Evaluations& evaluations, std::size_t count,
                                        const std::function<PinSet(std::size_t)>& setOf);

/// Both together.
PinSet joinedPins(PinSet a, const PinSet& b);
/// `a` without what is in `b`.
PinSet pinsWithout(PinSet a, const PinSet& b);

}  // namespace fusescope
