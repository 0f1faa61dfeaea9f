#pragma once

#include <string>
#include <vector>

#include "diff/network_match.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// Two plans or read-back plans side by side, or those of a body of matched holders; a pointer is null if that side has
/// no plan. The plans must outlive it.
struct PlanLevel {
  const Cover* a = nullptr;
  const Cover* b = nullptr;
  BodyPath pathOfA, pathOfB;    ///< the body on each side
  NodeId holderOfA, holderOfB;  ///< in the surrounding level
  int around = -1;              ///< the index of the surrounding level; -1: this is the network itself
  bool isDisclosed = true;      ///< false: the compiler of the side without a plan does not report bodies
  NetworkMatch match;           ///< if a side has no plan, no node has a counterpart

  /// Returns the path of the body in A, or else in B.
  const BodyPath& path() const { return a != nullptr ? pathOfA : pathOfB; }

  /// Return a number for each node of both sides: corresponding nodes have the same number. Those of A are their ids.
  std::uint32_t nodeNumberOfA(NodeId node) const { return node.index; }
  std::uint32_t nodeNumberOfB(NodeId node) const;
  /// Returns the name of `thing` in A, or else in B.
  std::string nameOf(std::uint32_t thing) const;
  bool inA(std::uint32_t thing) const { return thing < match.nodeOfB.size(); }
  bool inBoth(std::uint32_t thing) const { return inA(thing) && match.nodeOfB[thing].valid(); }
  /// Returns whether the kernels of a thing can be compared: both sides have a kernel for it, or only one network has
  /// it.
  bool hasKernels(std::uint32_t thing) const;
  /// Returns whether both sides are Plans, so that each node is in one fused node and everything is known.
  bool isPlanned() const;
  /// Returns whether types differ, as far as both sides report them; a type that a compiler does not disclose is not a
  /// difference.
  bool typesDiffer(DataType ofA, DataType ofB) const;
};

/// Returns whether a kernel of `cover` contains `node`.
bool hasKernel(const Cover& cover, NodeId node);

/// Returns the two plans first, then their bodies, each after the level that surrounds it.
std::vector<PlanLevel> planLevels(const Cover& a, const Cover& b);

}  // namespace fusescope
