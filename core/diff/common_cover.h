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

/// One group of the smallest common cover of two plans' fused nodes: both sides cover the same nodes, as far as both
/// have a kernel for them. A fused node of which the other side runs nothing has a group of its own.
struct CoverGroup {
  std::vector<std::string> origins;  ///< texts of the places of nodes of the file, by A's names where it has them
  BodyPath body;                     ///< that it is in, in A or else in B
  std::vector<CoveringNode> a, b;
  bool same = false;  ///< one fused node on each side, of the same nodes; where kernels share nodes, all of them alike
};

/// What both sides can be compared by of a fused node of a level: its nodes but those that the other side has no kernel
/// for (PlanLevel::hasKernels()). Of A, or of B, as things of the level.
std::vector<std::uint32_t> comparedThings(const PlanLevel& level, bool ofA, const FusedNode& fused);
/// The fused nodes of a level, grouped by comparedThings().
std::vector<SetGroup> fusedGroups(const PlanLevel& level);
/// One fused node of a side of a level, as it is listed.
CoveringNode coveringNode(const PlanLevel& level, bool ofA, std::uint32_t fused);

/// Pure. Behind the group of a node with bodies stand those of its bodies, of each that one of the plans has.
std::vector<CoverGroup> commonCover(const Cover& a, const Cover& b);

}  // namespace fusescope
