#pragma once

#include "tuning/evaluations.h"

namespace fusescope {

// Search methods of other tools, on the same network and with the same evaluations. They return nothing if they find no
// set that meets the goal.

/// Search as `polygraphy debug precision --mode bisect`: they find the fewest nodes from the front (or from the back)
/// that meet the goal by bisection, assuming that more pinned nodes are never worse.
Result<std::optional<TunePoint>> prefixBaseline(Evaluations& evaluations);
Result<std::optional<TunePoint>> suffixBaseline(Evaluations& evaluations);

/// Searches as NNCF's accuracy control does. Groups are ranked by the error that remains when each is pinned alone, and
/// are pinned one by one in this order. If pinning a group makes the error larger, the group is moved to the end and
/// the other groups are ranked again with the current pins. After three rankings the next group is pinned in any case.
Result<std::optional<TunePoint>> greedyBaseline(Evaluations& evaluations);

/// Returns the result for the smallest `count` for which `setOf` meets the goal, assuming that more is never worse.
/// Returns nothing if even the largest set does not meet it.
Result<std::optional<TunePoint>> bisect(Evaluations& evaluations, std::size_t count,
                                        const std::function<PinSet(std::size_t)>& setOf);

/// Returns the union of both sets.
PinSet joinedPins(PinSet a, const PinSet& b);
/// Returns the pins of `a` that are not in `b`.
PinSet pinsWithout(PinSet a, const PinSet& b);

}  // namespace fusescope
