#include "planning/fusion/rules.h"
#include "planning/steps.h"

namespace fusescope {

const std::vector<FusionRule>& fusionRules() {
  static const std::vector<FusionRule> kRules{
      {"attention", "softmax(q * k^T * scale + mask) * v", fuseAttention},
      {"rotary", "x * cos + rotate(x) * sin", fuseRotary},
      {"group_norm", "instance_norm(groups(x)) * w + b", fuseGroupNorm},
      {"layer_norm", "(x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * w + b", fuseLayerNorm},
      {"rms_norm", "x / sqrt(mean(x^2) + eps) * w", fuseRmsNorm},
      {"conv_epilogue", "act(bn(conv(x, w) + b) + residual)", fuseConvEpilogue},
      {"matmul_epilogue", "act(a * b + bias) + residual", fuseMatMulEpilogue},
      {"gemm_epilogue", "act(gemm(a, b, c)) + residual", fuseGemmEpilogue},
      {"batch_norm", "act(bn(x)) + residual", fuseBatchNormEpilogue},
      {"parallel_products", "x * a, x * b, … of one x and constants", fuseParallelProducts},
      {"softmax", "softmax(x * scale + mask)", fuseSoftmax},
      {"pointwise", "f(g(x), y) of equal extents", fusePointwise},
      {"part", "f(split(x)), f(slice(x)), f(expand(x))", fuseParts},
      {"quantize", "quantize(kernel(dequantize(x)))", fuseQuantized},
      {"cast", "cast(kernel(x)), kernel(cast(x)), between floats", fuseCasts},
      {"transpose", "transpose(a) * b, view(transpose(view(x)))", fuseTransposes},
      {"view", "view(kernel(x)), kernel(view(x))", fuseViews},
  };
  return kRules;
}

std::vector<std::string> fusionRuleNames() {
  std::vector<std::string> names;
  for (const FusionRule& rule : fusionRules()) names.emplace_back(rule.name);
  // Parts of the epilogue rules that can be switched off alone.
  names.insert(names.end(), {"activation", "residual"});
  return names;
}

Fusion fuseNodes(const Graph& graph, const Partitioning& partition, std::span<const NodeId> scope,
                 const FusionLimits& limits) {
  RegionBuilder builder(graph, partition, scope, limits);
  for (const FusionRule& rule : fusionRules()) rule.apply(builder);
  // Under directives it is the directives that stand in the way.
  if (limits.directives == nullptr) explainLeftovers(builder);
  return builder.finish();
}

}  // namespace fusescope
