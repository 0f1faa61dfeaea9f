#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planning/fusion/region_builder.h"

namespace fusescope {

class Graph;
struct Node;

/// One way to combine nodes into kernels. `apply` searches the whole graph once and proposes what it finds.
struct FusionRule {
  std::string_view name;
  std::string_view picture;  ///< what it looks for, as one line of algebra
  void (*apply)(RegionBuilder& state);
  std::span<const std::string_view> parts = {};  ///< parts of the pattern that can be switched off separately
};

/// Returns the rules of rules.inc, in their order.
const std::vector<const FusionRule*>& fusionRules();

/// A softmax with its guard, as attention and softmax kernels contain it.
struct GuardedSoftmax {
  std::vector<NodeId> nodes;  ///< the Softmax, the IsNaN and Where after it if there are any, and Casts between them
  ValueId result;
};
/// Finds a softmax p, or its guarded form Where(IsNaN(p), constant, p).
GuardedSoftmax guardedSoftmax(const Graph& graph, const Node& softmax);

/// Returns whether the node is a Slice, Split, Expand, or Gather of one index, with constants that determine which
/// elements it reads. A kernel can then read its input in place, if no other node needs its result.
bool isKnownPart(const Graph& graph, const Node& node);
/// Returns a node of the only kernel that reads the results of `node`. It is invalid if several kernels do, or if a
/// result is an output of the network.
NodeId onlyReader(const RegionBuilder& state, const Node& node);

/// Returns the value before the float Casts that produce `value` for only one reader and are in no kernel yet. `casts`
/// gets them.
ValueId beforeOwnCasts(const RegionBuilder& state, ValueId value, std::vector<NodeId>& casts);
/// Returns the value after the float Casts that are the only readers of `value` and are in no kernel yet. `casts` gets
/// them.
ValueId behindOwnCasts(const RegionBuilder& state, ValueId value, std::vector<NodeId>& casts);

/// Returns the products of one input that a region runs side by side; empty if there are fewer than two.
std::vector<NodeId> parallelProducts(const Graph& graph, const Region& region);

/// Records, for nodes that no rule merged but that look like a part of a pattern, what prevented it.
void explainLeftovers(RegionBuilder& state);

}  // namespace fusescope
