#include "backends/native/post_operations.h"

#include <limits>

namespace fusescope::native {

using dnnl::algorithm;

bool appendActivation(dnnl::post_ops& operations, const Node& node,
                      const std::function<std::optional<float>(ValueId)>& number) {
  const auto add = [&](algorithm kind, float alpha = 0, float beta = 0) {
    operations.append_eltwise(kind, alpha, beta);
    return true;
  };
  if (node.is("Relu")) return add(algorithm::eltwise_relu);
  if (node.is("LeakyRelu")) return add(algorithm::eltwise_relu, node.floatAttribute("alpha", 0.01f));
  if (node.is("Sigmoid")) return add(algorithm::eltwise_logistic);
  if (node.is("Tanh")) return add(algorithm::eltwise_tanh);
  if (node.is("Abs")) return add(algorithm::eltwise_abs);
  if (node.is("Mish")) return add(algorithm::eltwise_mish);
  if (node.is("Elu")) return add(algorithm::eltwise_elu, node.floatAttribute("alpha", 1.0f));
  if (node.is("HardSwish")) return add(algorithm::eltwise_hardswish, 1.0f / 6.0f, 0.5f);
  if (node.is("HardSigmoid")) {
    return add(algorithm::eltwise_hardsigmoid, node.floatAttribute("alpha", 0.2f), node.floatAttribute("beta", 0.5f));
  }
  if (node.is("Softplus")) return add(algorithm::eltwise_soft_relu, 1.0f);
  if (node.is("Swish")) return add(algorithm::eltwise_swish, node.floatAttribute("alpha", 1.0f));
  if (node.is("Gelu")) {
    const bool tanh = node.textAttribute("approximate", "none") == "tanh";
    return add(tanh ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf);
  }
  if (node.is("Clip")) {
    const float low = node.input(1).valid() ? number(node.input(1)).value_or(0) : std::numeric_limits<float>::lowest();
    const float high = node.input(2).valid() ? number(node.input(2)).value_or(0) : std::numeric_limits<float>::max();
    return add(algorithm::eltwise_clip, low, high);
  }
  return false;
}

}  // namespace fusescope::native
