#include <algorithm>

#include "backends/native/exact_epilogue.h"
#include "backends/native/lowering.h"
#include "backends/native/post_operations.h"
#include "planning/fusion/match.h"

namespace fusescope::native {
namespace {

bool isConvolution(const Node& node) {
  return node.is("Conv") || node.is("ConvTranspose");
}

}  // namespace

// What the plan puts behind the root, in its order, as far as it can be post-operations: constants per channel, batch
// norm, activations, x·sigmoid(x), sums with a tensor of the same extents, and casts that widen. None rounds.
Chain Lowering::chainAfter(const Node& root) const {
  Chain chain{.root = root.id, .nodes = {root.id}, .result = root.outputs[0]};
  const std::vector<NodeId> parts = partsAfter(root);
  const auto ends = [this](ValueId value) {
    return isFusedOutput(value) || m_rounding.rounds(value) != DataType::Undefined;
  };
  for (std::size_t i = 0; i < parts.size() && !ends(chain.result);) {
    const auto operation = operationOf(chain, std::span(parts).subspan(i));
    if (!operation) break;
    chain.operations.push_back(*operation);
    for (const std::size_t end = i + operation->nodeCount(); i < end; ++i) chain.nodes.push_back(parts[i]);
    chain.result = node(chain.nodes.back()).outputs[0];
  }
  return chain;
}

std::vector<NodeId> Lowering::partsAfter(const Node& root) const {
  const std::vector<Binding> bound = bindingsOf(m_fused.bindings, roles::kPart);
  const bool oneRoot = bindingsOf(m_fused.bindings, roles::kRoot).size() == 1;
  const auto isPart = [&](NodeId id) {
    const auto isBound = [id](const Binding& binding) {
      return binding.node == id && (binding.role == roles::kPart || binding.role == roles::kQuantize);
    };
    return bound.empty() || !oneRoot || isFloatCast(m_graph, node(id)) ||
           std::ranges::any_of(m_fused.bindings, isBound);
  };
  std::set<NodeId> behind{root.id};
  std::vector<NodeId> parts;
  for (const NodeId id : m_fused.nodes) {
    const bool follows = std::ranges::any_of(node(id).inputs, [&](ValueId input) {
      const auto from = producer(input);
      return from && behind.contains(*from);
    });
    if (!follows || !isPart(id)) continue;
    behind.insert(id);
    parts.push_back(id);
  }
  return parts;
}

/// As what the first of `parts` continues the chain, if it can.
std::optional<Chain::Operation> Lowering::operationOf(const Chain& chain, std::span<const NodeId> parts) const {
  const Node& next = node(parts[0]);
  if (next.is("Sigmoid") && next.input(0) == chain.result && parts.size() > 1 && isSwish(chain, next, node(parts[1])))
    return Chain::Operation{Chain::Kind::Swish, next.id, {}};
  const ValueId result = next.outputs.empty() ? ValueId() : next.outputs[0];
  const bool continues = onlyConsumer(chain.result) == next.id && result.valid() &&
                         dimsOf(result) == dimsOf(chain.result) && typeOf(result) == DataType::F32;
  if (!continues) return std::nullopt;
  if (next.is("BatchNormalization")) return batchNormOf(chain, next);
  if (next.is("Add")) return sumOf(chain, next);
  if (isFloatCast(m_graph, next)) {
    const bool rounds = m_rounding.rounds(result) != DataType::Undefined;
    return rounds ? std::nullopt : std::optional(Chain::Operation{Chain::Kind::Cast, next.id, {}});
  }
  if (!isActivation(next) || next.input(0) != chain.result) return std::nullopt;
  for (std::size_t i = 1; next.is("Clip") && i < 3; ++i)
    if (next.input(i).valid() && !isConstant(next.input(i))) return std::nullopt;
  return Chain::Operation{Chain::Kind::Activation, next.id, {}};
}

bool Lowering::isSwish(const Chain& chain, const Node& sigmoid, const Node& product) const {
  return product.is("Mul") && consumers(chain.result).size() == 2 && product.inputs[0] != product.inputs[1] &&
         onlyConsumer(sigmoid.outputs[0]) == product.id &&
         (product.inputs[0] == chain.result || product.inputs[1] == chain.result);
}

/// Into the weights of a convolution, while nothing but biases came before.
std::optional<Chain::Operation> Lowering::batchNormOf(const Chain& chain, const Node& norm) const {
  const bool folds = isConvolution(node(chain.root)) && norm.input(0) == chain.result &&
                     std::ranges::all_of(chain.operations, [](const Chain::Operation& before) {
                       return before.kind == Chain::Kind::Bias || before.kind == Chain::Kind::BatchNorm ||
                              before.kind == Chain::Kind::Cast;
                     });
  const auto outputs = std::ranges::count_if(norm.outputs, [](ValueId value) { return value.valid(); });
  if (!folds || outputs != 1) return std::nullopt;
  for (std::size_t i = 1; i < 5; ++i)
    if (!isConstant(norm.input(i))) return std::nullopt;
  return Chain::Operation{Chain::Kind::BatchNorm, norm.id, {}};
}

/// A bias per channel (of a product: per column), or a residual of the same extents.
std::optional<Chain::Operation> Lowering::sumOf(const Chain& chain, const Node& sum) const {
  if (sum.inputs[0] == sum.inputs[1]) return std::nullopt;
  const ValueId operand = sum.inputs[0] == chain.result ? sum.inputs[1] : sum.inputs[0];
  const Dims dims = dimsOf(chain.result), other = dimsOf(operand);
  if (typeOf(operand) != DataType::F32) return std::nullopt;
  if (other == dims) return Chain::Operation{Chain::Kind::Residual, sum.id, operand};
  if (!isConstant(operand)) return std::nullopt;
  return isPerChannel(operand, node(chain.root)) ? std::optional(Chain::Operation{Chain::Kind::Bias, sum.id, operand})
                                                 : std::nullopt;
}

void Lowering::leaveToTapes(const Chain& chain, std::size_t taken) {
  m_pending.insert(m_pending.end(), chain.nodes.begin() + static_cast<std::ptrdiff_t>(taken), chain.nodes.end());
}

EpilogueTape Lowering::epilogueTape(const Chain& chain, std::size_t first, std::size_t taken) const {
  TapeBuilder builder([this](ValueId value) { return constantNumber(value); },
                      [this](ValueId value) { return dimsOf(value).size(); },
                      [this](ValueId value) { return typeOf(value); });
  const ValueId product = resultOf(chain, first), result = resultOf(chain, taken);
  EpilogueTape tape;
  builder.registerOf(product);
  for (std::size_t i = first; i < taken; ++i) builder.add(node(chain.nodes[i]), DataType::F32);
  builder.finish(tape.program, {result});
  for (const TapeBuilder::Input& input : builder.inputs()) {
    if (input.value == product) {
      tape.product = input.reg;
    } else {
      tape.addends.emplace_back(input.value, input.reg);
    }
  }
  tape.result = builder.registerOf(result);
  return tape;
}

Status Lowering::lowerSeparately(const Chain& chain) {
  for (const NodeId id : chain.nodes) TRY(isPointwise(node(id)) ? emitTape({id}) : lowerReference(node(id)));
  return Done{};
}

// Attention and norms as the plan binds them; products of an attention are not for chains. A chain is lowered where its
// last node stands, so that a residual that is computed meanwhile is there.
void Lowering::findMacros() {
  m_attention = boundAttention();
  m_norm = boundNorm();
  findHeldCodes();
  std::set<NodeId> taken;
  const auto take = [&](const auto& pattern) {
    if (!pattern) return;
    taken.insert(pattern->nodes.begin(), pattern->nodes.end());
    m_absorbed.insert(pattern->nodes.begin(), pattern->nodes.end());
    m_absorbed.erase(pattern->last);
  };
  take(m_attention);
  take(m_norm);
  m_parallel = parallelProducts();
  for (const Chain& chain : m_parallel) {
    taken.insert(chain.nodes.begin(), chain.nodes.end());
    m_absorbed.insert(chain.nodes.begin(), chain.nodes.end());
  }
  if (!m_parallel.empty()) m_absorbed.erase(m_parallel.front().root);
  for (NodeId id : m_fused.nodes) {
    const Node& root = node(id);
    if (taken.contains(id) || !(isConvolution(root) || root.is("MatMul") || root.is("Gemm"))) continue;
    if (typeOf(root.outputs[0]) != DataType::F32) continue;
    if (auto quantized = quantizedChainAfter(root)) {
      takeQuantized(std::move(*quantized), taken);
      continue;
    }
    Chain chain = chainAfter(root);
    const bool free = std::none_of(chain.nodes.begin(), chain.nodes.end(), [&](NodeId n) { return taken.contains(n); });
    if (!free) chain = {.root = id, .nodes = {id}, .result = root.outputs[0]};
    taken.insert(chain.nodes.begin(), chain.nodes.end());
    m_absorbed.insert(chain.nodes.begin(), chain.nodes.end() - 1);
    m_chains.emplace(chain.nodes.back(), std::move(chain));
  }
}

}  // namespace fusescope::native
