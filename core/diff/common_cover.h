#pragma once

#include <string>
#include <vector>

#include "analysis/set_groups.h"
#include "diff/plan_levels.h"

namespace fusescope {

/// A fused node of one of two plans.
struct CoveringNode {
  FusedNodeId id;
  NetworkPlace place;     ///< its name is for people
  Hash128 identity;       ///< equal in both plans where they cover the same nodes of the file
  std::size_t nodes = 1;  ///< how many it runs
};

/// One group of the smallest common cover of two plans' fused nodes: both sides cover the same nodes.
struct CoverGroup {
  std::vector<std::string> origins;  ///< texts of the places of nodes of the file, by A's names where it has them
  BodyPath body;                     ///< that it is in, in A or else in B
  std::vector<CoveringNode> a, b;
  bool same = false;  ///< one fused node on each side, of the same nodes
};

/// The fused nodes of a level, grouped by the nodes that they cover.
std::vector<SetGroup> fusedGroups(const PlanLevel& level);
/// One fused node of a side of a level, as it is listed.
CoveringNode coveringNode(const PlanLevel& level, bool ofA, std::uint32_t fused);

/// Pure. Behind the group of a node with bodies stand those of its bodies, of each that one of the plans has.
std::vector<CoverGroup> commonCover(const Plan& a, const Plan& b);

}  // namespace fusescope
