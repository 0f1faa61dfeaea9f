#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planning/fusion/region_builder.h"

namespace fusescope {

/// One way to make nodes run together. `apply` walks the whole graph once and proposes what it finds.
struct FusionRule {
  std::string_view name;
  std::string_view picture;  ///< what it looks for, as one line of algebra
  void (*apply)(RegionBuilder&);
};

/// The rules in the order in which they are applied: the larger pattern first, so that it is not eaten piecemeal.
const std::vector<FusionRule>& fusionRules();

/// How an attention, a softmax and a norm are guarded, masked and scaled.
struct GuardedSoftmax {
  std::vector<NodeId> nodes;  ///< Softmax, and IsNaN and Where behind it if they are there
  ValueId result;
};
/// Softmax p, or Where(IsNaN(p), constant, p).
GuardedSoftmax guardedSoftmax(const Graph& graph, const Node& softmax);

/// Slice, Split, Expand, or Gather of one index, whose places are known before they run: read in place where nobody
/// else needs what they make.
bool isKnownPart(const Graph& graph, const Node& node);
/// A node of the kernel that reads all that `node` makes; invalid if several do, or the network delivers it.
NodeId onlyReader(const RegionBuilder& state, const Node& node);

void fuseAttention(RegionBuilder& state);
void fuseRotary(RegionBuilder& state);
void fuseGroupNorm(RegionBuilder& state);
void fuseLayerNorm(RegionBuilder& state);
void fuseRmsNorm(RegionBuilder& state);
void fuseConvEpilogue(RegionBuilder& state);
void fuseMatMulEpilogue(RegionBuilder& state);
void fuseGemmEpilogue(RegionBuilder& state);
void fuseBatchNormEpilogue(RegionBuilder& state);
void fuseParallelProducts(RegionBuilder& state);
/// The products of one input that a region runs side by side; empty if there are fewer than two.
std::vector<NodeId> parallelProducts(const Graph& graph, const Region& region);
void fuseSoftmax(RegionBuilder& state);
void fusePointwise(RegionBuilder& state);
void fuseParts(RegionBuilder& state);
void fuseQuantized(RegionBuilder& state);
void fuseCasts(RegionBuilder& state);
void fuseTransposes(RegionBuilder& state);
void fuseViews(RegionBuilder& state);

/// Says of what no rule took, and what looks like part of a pattern, what stood in the way.
void explainLeftovers(RegionBuilder& state);

}  // namespace fusescope
