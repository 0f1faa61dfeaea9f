#pragma once

#include <string>
#include <vector>

#include "diff/network_match.h"
#include "planning/plan.h"

namespace fusescope {

/// Two plans side by side, or those of a body of matched holders; null where one side has none. The plans must outlive
/// it.
struct PlanLevel {
  const Plan* a = nullptr;
  const Plan* b = nullptr;
  BodyPath pathOfA, pathOfB;    ///< the body that each side is of
  NodeId holderOfA, holderOfB;  ///< in the level around
  int around = -1;              ///< place of the level around; -1: the network itself
  NetworkMatch match;           ///< where a side has no plan, nothing has a counterpart

  /// The body in A, or else in B.
  const BodyPath& path() const { return a != nullptr ? pathOfA : pathOfB; }

  /// A number for each node of both sides: counterparts have the same. A's are their ids.
  std::uint32_t thingOfA(NodeId node) const { return node.index; }
  std::uint32_t thingOfB(NodeId node) const;
  /// The node of `thing` in A, or else in B.
  std::string nameOf(std::uint32_t thing) const;
  bool inA(std::uint32_t thing) const { return thing < match.nodeOfB.size(); }
  bool inBoth(std::uint32_t thing) const { return inA(thing) && match.nodeOfB[thing].valid(); }
};

/// The plans first, then their bodies, each behind what is around it.
std::vector<PlanLevel> planLevels(const Plan& a, const Plan& b);

}  // namespace fusescope
