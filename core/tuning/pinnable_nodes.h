#pragma once

#include <string>
#include <vector>

#include "planning/plan.h"
#include "tuning/tune_search.h"

namespace fusescope {

/// A node that calculates in a narrower type than it would without any request, or on codes because of ranges.
struct PinnableNode {
  std::string pattern;  ///< the pattern for a pin; "HOLDER/NODE" for a node in a body
  FusedNodeId fused;    ///< in the lowered plan; for a node in a body, that of its holder
  /// The type in which it would calculate without requests, to which it is pinned.
  DataType exact = DataType::Undefined;
};

/// The nodes that a search may pin, and the groups that it pins together.
struct Pinnable {
  std::vector<PinnableNode> nodes;  ///< in graph order; nodes of a body at the position of their holder
  std::vector<PinSet> groups;       ///< one per fused node of the lowered plan, in its order
  std::vector<std::vector<std::uint32_t>> neighbours;  ///< by group
};

/// Finds the nodes that differ between two plans of one network, of which `exact` has no codes from ranges. A node that
/// calculates on codes of the network's author does not differ, because a pin would not remove the quantisation. Nodes
/// that the user pins with `obey` are left out, because no other pin has an effect there. Errors are those of
/// codedNodes().
Result<Pinnable> pinnableNodes(const Plan& lowered, const Plan& exact);

}  // namespace fusescope
