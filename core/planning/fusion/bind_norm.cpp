#include "planning/fusion/kernel_nodes.h"
#include "planning/fusion/match.h"
#include "planning/kinds.h"

namespace fusescope {

NormBinding bindNorm(const KernelNodes& nodes) {
  const FusedNode& fused = nodes.fused();
  const Binding* input = findBinding(fused.bindings, roles::kInput);
  const Binding* result = findBinding(fused.bindings, roles::kResult);
  const bool isNorm =
      fused.kind == kinds::kGroupNorm || fused.kind == kinds::kLayerNorm || fused.kind == kinds::kRmsNorm;
  if (!isNorm || input == nullptr || result == nullptr) return {};
  NormBinding norm{.nodes = nodes.between(input->value, result->value)};
  if (norm.nodes.empty() || !nodes.leaveOnly(norm.nodes, result->value)) return {};
  const Binding* scale = findBinding(fused.bindings, roles::kScale);
  const Binding* weights = scale != nullptr ? scale : findBinding(fused.bindings, roles::kBias);
  if (weights == nullptr) return norm;
  norm.unweighted.push_back(otherOperand(nodes.node(weights->node), weights->value));
  for (auto cast = nodes.maker(norm.unweighted.back()); cast && isFloatCast(nodes.graph(), nodes.node(*cast));
       cast = nodes.maker(norm.unweighted.back()))
    norm.unweighted.push_back(nodes.node(*cast).input(0));
  return norm;
}

}  // namespace fusescope
