#pragma once

#include <cstdint>
#include <optional>

#include "analysis/cost.h"
#include "planning/plan.h"

namespace fusescope {

/// How often a Loop or Scan of `graph` runs its body, whatever the data are: a Loop of a constant number that no
/// condition ends, a Scan of the extent that it goes along, at usual extents. Else nothing.
std::optional<std::int64_t> iterationsOf(const UsualExtents& extents, const Graph& graph, const Node& node);

/// Whether `fused` is a node all of whose bodies have plans, so that it runs by them.
bool runsByBodies(const Plan& plan, const FusedNode& fused);

/// From the predicted times of its bodies' plans. Nothing where one is unknown, and for nodes without bodies.
std::optional<BodyTime> bodyTimeOf(const Plan& plan, const FusedNode& fused);

/// As the price of the whole node: known where the time is one number.
Price priceOf(const std::optional<BodyTime>& time);

}  // namespace fusescope
