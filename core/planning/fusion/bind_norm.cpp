#include <algorithm>

#include "planning/fusion/kernel_nodes.h"
#include "planning/fusion/match.h"
#include "planning/kinds.h"

namespace fusescope {
namespace {

ValueId valueWithRole(const FusedNode& fused, std::string_view role) {
  const Binding* binding = findBinding(fused.bindings, role);
  return binding == nullptr ? ValueId() : binding->value;
}

/// Binds the axes over which the means of the norm are taken. Returns false if no node takes a mean over the last axes,
/// or if two means are taken over different axes.
bool bindAxes(const KernelNodes& nodes, NormBinding& norm) {
  for (const NodeId id : norm.nodes) {
    const Node& node = nodes.node(id);
    if (!node.is("ReduceMean") && !node.is("GlobalAveragePool")) continue;
    const std::size_t axes = reducedLastAxes(nodes.graph(), node);
    if (axes == 0 || (norm.axes != 0 && norm.axes != axes)) return false;
    norm.axes = axes;
    if (node.is("ReduceMean") && node.input(1).valid()) norm.axesConstants.push_back(node.input(1));
  }
  return norm.axes > 0;
}

/// Binds epsilon, which is a constant, or the attribute of a normalisation operator. Returns false if neither is found.
bool bindEpsilon(const KernelNodes& nodes, NormBinding& norm) {
  norm.epsilon = valueWithRole(nodes.fused(), roles::kEpsilon);
  if (norm.epsilon.valid()) return true;
  const auto states = [&](NodeId id) { return nodes.node(id).is("InstanceNormalization"); };
  const auto found = std::ranges::find_if(norm.nodes, states);
  if (found != norm.nodes.end()) norm.ownEpsilon = nodes.node(*found).floatAttribute("epsilon", 1e-5f);
  return found != norm.nodes.end();
}

/// Binds the values to which the weights are applied.
void bindUnweighted(const KernelNodes& nodes, NormBinding& norm) {
  const Binding* scale = findBinding(nodes.fused().bindings, roles::kScale);
  const Binding* weights = scale != nullptr ? scale : findBinding(nodes.fused().bindings, roles::kBias);
  if (weights == nullptr) return;
  norm.unweighted.push_back(otherOperand(nodes.node(weights->node), weights->value));
  for (auto cast = nodes.maker(norm.unweighted.back()); cast && isFloatCast(nodes.graph(), nodes.node(*cast));
       cast = nodes.maker(norm.unweighted.back()))
    norm.unweighted.push_back(nodes.node(*cast).input(0));
}

}  // namespace

NormBinding bindNorm(const KernelNodes& nodes) {
  const FusedNode& fused = nodes.fused();
  const bool isGroupNorm = fused.kind == kinds::kGroupNorm, isRmsNorm = fused.kind == kinds::kRmsNorm;
  if (!isGroupNorm && !isRmsNorm && fused.kind != kinds::kLayerNorm) return {};
  NormBinding norm{.input = valueWithRole(fused, roles::kInput),
                   .result = valueWithRole(fused, roles::kResult),
                   .scale = valueWithRole(fused, roles::kScale),
                   .bias = valueWithRole(fused, roles::kBias),
                   .centred = !isRmsNorm,
                   .groups = isGroupNorm ? valueWithRole(fused, roles::kGroups) : ValueId()};
  if (!norm.input.valid() || !norm.result.valid()) return {};
  norm.nodes = nodes.between(norm.input, norm.result);
  if (norm.nodes.empty() || !nodes.leaveOnly(norm.nodes, norm.result)) return {};
  if (isGroupNorm ? !norm.groups.valid() : !bindAxes(nodes, norm)) return {};
  if (!bindEpsilon(nodes, norm)) return {};
  bindUnweighted(nodes, norm);
  return norm;
}

}  // namespace fusescope
