#pragma once

#include <string>
#include <vector>

#include "analysis/set_groups.h"
#include "diff/plan_levels.h"

namespace fusescope {

/// A fused node of one of two plans.
struct CoveringNode {
  FusedNodeId id;
  NetworkPlace place;     ///< includes a name for people
  Hash128 identity;       ///< equal in both plans if they cover the same nodes of the file
  std::size_t nodes = 1;  ///< number of its nodes
};

/// One group of the smallest common cover of two plans' fused nodes: both sides cover the same nodes, as far as both
/// have kernels for them. A fused node whose nodes have no kernel on the other side is a separate group.
struct CoverGroup {
  std::vector<std::string> origins;  ///< texts of the places of nodes of the file, with A's names where A has them
  BodyPath body;                     ///< the body that contains it, in A or else in B
  std::vector<CoveringNode> a, b;
  bool same = false;  ///< one fused node with the same nodes on each side; if kernels share nodes, all of them agree
};

/// Returns by which things of the level a fused node of A or of B is compared: its nodes without those for which the
/// other side has no kernel (PlanLevel::hasKernels()).
std::vector<std::uint32_t> comparedThings(const PlanLevel& level, bool ofA, const FusedNode& fused);
/// Returns the fused nodes of a level, grouped by comparedThings().
std::vector<SetGroup> fusedGroups(const PlanLevel& level);
/// Returns a fused node of one side of a level in the form for lists.
CoveringNode coveringNode(const PlanLevel& level, bool ofA, std::uint32_t fused);

/// Computes the common cover. It is a pure function. The group of a node with bodies is followed by the groups of its
/// bodies, for each body that one of the plans has.
std::vector<CoverGroup> commonCover(const Cover& a, const Cover& b);

}  // namespace fusescope
