#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planning/fusion/fusion_state.h"

namespace fusescope {

/// One way to make nodes run together. `apply` walks the whole graph once and proposes what it finds.
struct FusionRule {
  std::string_view name;
  std::string_view picture;  ///< what it looks for, as one line of algebra
  void (*apply)(FusionState&);
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

/// Answers each Split and NoFuse directive by a decision that names it.
void answerDirectives(const Graph& graph, const DirectiveMap& directives, const PlanOptions& options, Fusion& fusion);

void fuseAttention(FusionState& state);
void fuseLayerNorm(FusionState& state);
void fuseRmsNorm(FusionState& state);
void fuseConvEpilogue(FusionState& state);
void fuseMatMulEpilogue(FusionState& state);
void fuseGemmEpilogue(FusionState& state);
void fuseBatchNormEpilogue(FusionState& state);
void fuseSoftmax(FusionState& state);
void fusePointwise(FusionState& state);
void fuseTransposes(FusionState& state);
void fuseViews(FusionState& state);

}  // namespace fusescope
