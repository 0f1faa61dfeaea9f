#pragma once

#include <string>
#include <vector>

#include "planning/plan.h"
#include "tuning/tune_search.h"

namespace fusescope {

/// A node that calculates in a narrower type than it would if nothing were asked for, or on codes by ranges.
struct PinnableNode {
  std::string pattern;                   ///< what a pin names it by; in a body "HOLDER/NODE"
  FusedNodeId fused;                     ///< of the lowered plan; of a node in a body: that of the holder
  DataType exact = DataType::Undefined;  ///< what it would calculate in: what it is pinned to
};

/// What a search may pin, and what it pins together.
struct Pinnable {
  std::vector<PinnableNode> nodes;  ///< in the order of the graph; those of a body at their holder's place
  std::vector<PinSet> groups;       ///< by fused node of the lowered plan, in its order
  std::vector<std::vector<std::uint32_t>> neighbours;  ///< by group
};

/// What in `lowered` differs from `exact`, two plans of one network, the second without codes by ranges. A node that
/// calculates on what the network itself quantises differs in neither: a pin would not take the quantisation away.
/// Nodes that the user pins with `obey` are left out: no other pin holds there. Errors: those of codedNodes().
Result<Pinnable> pinnableNodes(const Plan& lowered, const Plan& exact);

}  // namespace fusescope
