#include "backends/native/lowering/post_operations.h"

#include <limits>
#include <optional>

namespace fusescope::native {

using dnnl::algorithm;

dnnl::post_ops copyOf(const dnnl::post_ops& operations) {
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(operations);
  return attributes.get_post_ops();
}

bool mayLoseNumbers(const Node& node) {
  return node.is("Relu") || node.is("Clip") || node.is("HardSigmoid") || node.is("Sigmoid") ||
         (node.is("Gelu") && node.textAttribute("approximate", "none") == "none");
}

// Adds an activation to oneDNN's operations. Two are missing on purpose. Near 0, oneDNN's Elu loses all digits, because
// it subtracts 1 from a number close to 1, and far below 0 its Softplus is negative. Gelu (erf) is used although 1 +
// erf(x) loses digits below -3 and is 0 below -6: behind a product of codes, its error was measured as at most 1e-7 of
// the rms of the results, and ONNX Runtime's own Gelu loses the same digits (below -5 both have no right digit). The
// relative error of our own tapes is 3e-6.
bool appendActivation(dnnl::post_ops& operations, const Chain::Operation& operation, const Node& node,
                      const std::function<std::optional<float>(ValueId)>& constantNumber) {
  const auto add = [&](algorithm kind, float alpha = 0, float beta = 0) {
    operations.append_eltwise(kind, alpha, beta);
    return true;
  };
  if (operation.kind == Chain::Kind::Swish) return add(algorithm::eltwise_swish, 1.0f);
  if (operation.kind != Chain::Kind::Activation) return false;
  if (node.is("Relu")) return add(algorithm::eltwise_relu);
  if (node.is("LeakyRelu")) return add(algorithm::eltwise_relu, node.floatAttribute("alpha", 0.01f));
  if (node.is("Sigmoid")) return add(algorithm::eltwise_logistic);
  if (node.is("Tanh")) return add(algorithm::eltwise_tanh);
  if (node.is("Abs")) return add(algorithm::eltwise_abs);
  if (node.is("Mish")) return add(algorithm::eltwise_mish);
  if (node.is("HardSwish")) return add(algorithm::eltwise_hardswish, 1.0f / 6.0f, 0.5f);
  if (node.is("HardSigmoid")) {
    return add(algorithm::eltwise_hardsigmoid, node.floatAttribute("alpha", 0.2f), node.floatAttribute("beta", 0.5f));
  }
  if (node.is("Swish")) return add(algorithm::eltwise_swish, node.floatAttribute("alpha", 1.0f));
  if (node.is("Gelu")) {
    const bool tanh = node.textAttribute("approximate", "none") == "tanh";
    return add(tanh ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf);
  }
  if (node.is("Clip")) {
    const auto end = [&](std::size_t i, float otherwise) {
      return node.input(i).valid() ? constantNumber(node.input(i)) : std::optional(otherwise);
    };
    const std::optional<float> low = end(1, std::numeric_limits<float>::lowest());
    const std::optional<float> high = end(2, std::numeric_limits<float>::max());
    return low && high && add(algorithm::eltwise_clip, *low, *high);
  }
  return false;
}

}  // namespace fusescope::native
