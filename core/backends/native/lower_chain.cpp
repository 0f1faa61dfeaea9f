#include <algorithm>

#include "backends/native/lowering.h"

namespace fusescope::native {
namespace {

bool isActivation(const Node& node) {
  static const std::set<std::string, std::less<>> kNames = {"Relu", "LeakyRelu", "Clip",        "Sigmoid",  "Tanh",
                                                            "Elu",  "HardSwish", "HardSigmoid", "Softplus", "Mish",
                                                            "Gelu", "Abs",       "Swish"};
  return node.domain.empty() && kNames.contains(node.op);
}

bool isConvolution(const Node& node) {
  return node.is("Conv") || node.is("ConvTranspose");
}

}  // namespace

// Follows the result of `root` as long as what uses it can be a post-operation: constants per channel, batch norm,
// activations, x·sigmoid(x), and sums with a tensor of the same extents.
Chain Lowering::chainAfter(const Node& root) const {
  Chain chain{.root = root.id, .nodes = {root.id}, .result = root.outputs[0]};
  const Dims dims = dimsOf(chain.result);
  bool folds = isConvolution(root);  // a batch norm can still go into the weights
  while (!isFusedOutput(chain.result)) {
    const std::vector<NodeId> users = consumers(chain.result);
    if (users.size() == 2 && node(users[0]).is("Sigmoid") && node(users[1]).is("Mul") &&
        onlyConsumer(node(users[0]).outputs[0]) == users[1] && node(users[1]).inputs[0] != node(users[1]).inputs[1]) {
      chain.operations.push_back({Chain::Kind::Swish, users[0], {}});
      chain.nodes.insert(chain.nodes.end(), users.begin(), users.end());
      chain.result = node(users[1]).outputs[0];
      folds = false;
      continue;
    }
    if (users.size() != 1) break;
    const Node& next = node(users[0]);
    if (next.outputs.empty() || dimsOf(next.outputs[0]) != dims || typeOf(next.outputs[0]) != DataType::F32) break;
    Chain::Operation operation{Chain::Kind::Activation, next.id, {}};
    if (next.is("BatchNormalization") && folds && next.input(0) == chain.result) {
      for (std::size_t i = 1; i < 5; ++i) folds = folds && constant(next.input(i)) != nullptr;
      const auto outputs = std::count_if(next.outputs.begin(), next.outputs.end(), [](ValueId v) { return v.valid(); });
      if (!folds || outputs != 1) break;
      operation.kind = Chain::Kind::BatchNorm;
    } else if (next.is("Add") && next.inputs[0] != next.inputs[1]) {
      operation.operand = next.inputs[0] == chain.result ? next.inputs[1] : next.inputs[0];
      const Dims other = dimsOf(operation.operand);
      if (typeOf(operation.operand) != DataType::F32) break;
      const std::int64_t count = elementCount(other).value_or(0);
      if (constant(operation.operand) != nullptr && other != dims) {
        const std::size_t axis = isConvolution(root) ? 1 : dims.size() - 1;
        const std::size_t fromEnd = dims.size() - axis;
        const bool perChannel =
            other.size() >= fromEnd && other[other.size() - fromEnd] == dims[axis] && count == dims[axis];
        if (!perChannel) break;
        operation.kind = Chain::Kind::Bias;
      } else if (other == dims) {
        operation.kind = Chain::Kind::Residual;
        folds = false;
      } else {
        break;
      }
    } else if (isActivation(next) && next.input(0) == chain.result) {
      if (next.is("Clip")) {
        for (std::size_t i = 1; i < 3; ++i) {
          if (next.input(i).valid() && constant(next.input(i)) == nullptr) return chain;
        }
      }
      folds = false;
    } else {
      break;
    }
    chain.operations.push_back(operation);
    chain.nodes.push_back(next.id);
    chain.result = next.outputs[0];
  }
  return chain;
}

void Lowering::leaveToTapes(const Chain& chain, std::size_t taken) {
  m_pending.insert(m_pending.end(), chain.nodes.begin() + static_cast<std::ptrdiff_t>(taken), chain.nodes.end());
}

Status Lowering::lowerSeparately(const Chain& chain) {
  for (const NodeId id : chain.nodes) {
    TRY(isPointwise(node(id))               ? emitTape({id})
        : node(id).is("BatchNormalization") ? lowerBatchNorm(node(id))
                                            : lowerReference(node(id)));
  }
  return Done{};
}

// Attention and norms as the plan binds them; products of an attention are not for chains. A chain is lowered where its last node stands, so that a residual
// that is computed meanwhile is there.
void Lowering::findMacros() {
  m_attention = boundAttention();
  m_norm = boundNorm();
  std::set<NodeId> taken;
  const auto take = [&](const auto& pattern) {
    if (!pattern) return;
    taken.insert(pattern->nodes.begin(), pattern->nodes.end());
    m_absorbed.insert(pattern->nodes.begin(), pattern->nodes.end());
    m_absorbed.erase(pattern->last);
  };
  take(m_attention);
  take(m_norm);
  for (NodeId id : m_fused.nodes) {
    const Node& root = node(id);
    if (taken.contains(id) || !(isConvolution(root) || root.is("MatMul") || root.is("Gemm"))) continue;
    if (typeOf(root.outputs[0]) != DataType::F32) continue;
    Chain chain = chainAfter(root);
    const bool free = std::none_of(chain.nodes.begin(), chain.nodes.end(), [&](NodeId n) { return taken.contains(n); });
    if (!free) chain = {.root = id, .nodes = {id}, .result = root.outputs[0]};
    taken.insert(chain.nodes.begin(), chain.nodes.end());
    m_absorbed.insert(chain.nodes.begin(), chain.nodes.end() - 1);
    m_chains.emplace(chain.nodes.back(), std::move(chain));
  }
}

}  // namespace fusescope::native
