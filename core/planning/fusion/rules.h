#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planning/fusion/region_builder.h"

namespace fusescope {

/// One way to make nodes run together. `apply` walks the whole graph once and proposes what it finds.
struct FusionRule {
  std::string_view name;
  std::string_view picture;  ///< what it looks for, as one line of algebra
  void (*apply)(RegionBuilder& state);
  std::span<const std::string_view> parts = {};  ///< parts of what it takes that can be switched off alone
};

/// The rules of rules.inc, in its order.
const std::vector<const FusionRule*>& fusionRules();

/// How an attention, a softmax and a norm are guarded, masked and scaled.
struct GuardedSoftmax {
  std::vector<NodeId> nodes;  ///< Softmax, and IsNaN and Where behind it if they are there, with Casts between them
  ValueId result;
};
/// Softmax p, or Where(IsNaN(p), constant, p).
GuardedSoftmax guardedSoftmax(const Graph& graph, const Node& softmax);

/// Slice, Split, Expand, or Gather of one index, whose places are known before they run: read in place where nobody
/// else needs what they make.
bool isKnownPart(const Graph& graph, const Node& node);
/// A node of the kernel that reads all that `node` makes; invalid if several do, or the network delivers it.
NodeId onlyReader(const RegionBuilder& state, const Node& node);

/// What `value` is before the float Casts that make it for one reader alone, none of which runs in a kernel yet;
/// `casts` gets them.
ValueId beforeOwnCasts(const RegionBuilder& state, ValueId value, std::vector<NodeId>& casts);
/// What `value` becomes behind float Casts that alone read it and that run in no kernel yet; `casts` gets them.
ValueId behindOwnCasts(const RegionBuilder& state, ValueId value, std::vector<NodeId>& casts);

/// The products of one input that a region runs side by side; empty if there are fewer than two.
std::vector<NodeId> parallelProducts(const Graph& graph, const Region& region);

/// Says of what no rule took, and what looks like part of a pattern, what stood in the way.
void explainLeftovers(RegionBuilder& state);

}  // namespace fusescope
