#pragma once

#include <string>
#include <vector>

#include "diff/network_match.h"
#include "planning/read_back_plan.h"

namespace fusescope {

/// Two plans side by side, ours or read back, or those of a body of matched holders; null where one side has none. The
/// plans must outlive it.
struct PlanLevel {
  const Cover* a = nullptr;
  const Cover* b = nullptr;
  BodyPath pathOfA, pathOfB;    ///< the body that each side is of
  NodeId holderOfA, holderOfB;  ///< in the level around
  int around = -1;              ///< place of the level around; -1: the network itself
  bool isTold = true;           ///< false: the compiler of the side that has no plan here does not tell of bodies
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
  /// Whether what runs a thing can be compared: kernels of both sides hold it, or one network alone has it.
  bool hasKernels(std::uint32_t thing) const;
  /// Both sides are Plans: each node is in one fused node, and all is known.
  bool isPlanned() const;
  /// Whether types differ, as far as both sides tell them: what a compiler does not disclose is no difference.
  bool typesDiffer(DataType ofA, DataType ofB) const;
};

/// Whether a kernel of `cover` holds `node`.
bool hasKernel(const Cover& cover, NodeId node);

/// The plans first, then their bodies, each behind what is around it.
std::vector<PlanLevel> planLevels(const Cover& a, const Cover& b);

}  // namespace fusescope
