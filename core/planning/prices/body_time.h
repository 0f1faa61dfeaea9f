#pragma once

#include <cstdint>
#include <optional>

#include "analysis/cost.h"
#include "planning/plan.h"

namespace fusescope {

class Graph;
struct Node;

/// Returns how often a Loop or Scan of `graph` runs its body, if that does not depend on data: a Loop with a constant
/// count and no condition, or a Scan, whose count is the usual extent of the axis that it scans. Otherwise it returns
/// nothing.
std::optional<std::int64_t> iterationsOf(const ChosenExtents& extents, const Graph& graph, const Node& node);

/// Returns whether `fused` is a node whose bodies all have plans, so that it runs by these plans.
bool runsByBodies(const Plan& plan, const FusedNode& fused);

/// Computes the time of a node with bodies from the predicted times of their plans. Returns nothing if one of them is
/// unknown, or if the node has no bodies.
std::optional<BodyTime> bodyTimeOf(const Plan& plan, const FusedNode& fused);

/// Returns the time as the price of the whole node. The price is unknown if the time is not a single number.
Price priceOf(const std::optional<BodyTime>& time);

}  // namespace fusescope
