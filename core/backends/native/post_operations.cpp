#include "backends/native/post_operations.h"

#include <limits>
#include <optional>

namespace fusescope::native {

using dnnl::algorithm;

namespace {

/// Input `i` of a Clip, or `otherwise` where it has none; nothing if it is no constant with data.
std::optional<float> clipEnd(const KernelRequest& request, const Node& clip, std::size_t i, float otherwise) {
  if (!clip.input(i).valid()) return otherwise;
  const auto it = request.constants.find(clip.input(i));
  if (it == request.constants.end() || it->second.count() != 1 || !it->second.hasData()) return std::nullopt;
  return static_cast<float>(it->second.asDouble(0));
}

}  // namespace

bool appendActivation(dnnl::post_ops& operations, const Chain::Operation& operation, const KernelRequest& request) {
  const Node& node = request.plan->graph().node(operation.node);
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
    const std::optional<float> low = clipEnd(request, node, 1, std::numeric_limits<float>::lowest());
    const std::optional<float> high = clipEnd(request, node, 2, std::numeric_limits<float>::max());
    return low && high && add(algorithm::eltwise_clip, *low, *high);
  }
  return false;
}

}  // namespace fusescope::native
