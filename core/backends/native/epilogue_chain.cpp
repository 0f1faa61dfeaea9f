#include "backends/native/epilogue_chain.h"

#include <algorithm>

#include "backends/native/emit_reference.h"
#include "backends/native/neighbours.h"
#include "backends/native/post_operations.h"
#include "backends/native/tape_nodes.h"
#include "planning/fusion/match.h"

namespace fusescope::native {
namespace {

bool isSwish(const Context& context, const Chain& chain, const Node& sigmoid, const Node& product) {
  return product.is("Mul") && consumers(context, chain.result).size() == 2 && product.inputs[0] != product.inputs[1] &&
         onlyConsumer(context, sigmoid.outputs[0]) == product.id &&
         (product.inputs[0] == chain.result || product.inputs[1] == chain.result);
}

/// Into the weights of a convolution, while nothing but biases came before.
std::optional<Chain::Operation> batchNormOf(const Context& context, const Chain& chain, const Node& norm) {
  const bool folds = isConvolution(context.node(chain.root)) && norm.input(0) == chain.result &&
                     std::ranges::all_of(chain.operations, [](const Chain::Operation& before) {
                       return before.kind == Chain::Kind::Bias || before.kind == Chain::Kind::BatchNorm ||
                              before.kind == Chain::Kind::Cast;
                     });
  const auto outputs = std::ranges::count_if(norm.outputs, [](ValueId value) { return value.valid(); });
  if (!folds || outputs != 1) return std::nullopt;
  for (std::size_t i = 1; i < 5; ++i)
    if (!context.isConstant(norm.input(i))) return std::nullopt;
  return Chain::Operation{Chain::Kind::BatchNorm, norm.id, {}};
}

/// A bias per channel (of a product: per column), or a residual of the same extents.
std::optional<Chain::Operation> sumOf(const Context& context, const Chain& chain, const Node& sum) {
  if (sum.inputs[0] == sum.inputs[1]) return std::nullopt;
  const ValueId operand = sum.inputs[0] == chain.result ? sum.inputs[1] : sum.inputs[0];
  const Dims dims = context.dimsOf(chain.result), other = context.dimsOf(operand);
  if (context.typeOf(operand) != DataType::F32) return std::nullopt;
  if (other == dims) return Chain::Operation{Chain::Kind::Residual, sum.id, operand};
  if (!context.isConstant(operand)) return std::nullopt;
  return isPerChannel(context, operand, context.node(chain.root))
             ? std::optional(Chain::Operation{Chain::Kind::Bias, sum.id, operand})
             : std::nullopt;
}

/// As what the first of `parts` continues the chain, if it can.
std::optional<Chain::Operation> operationOf(const Context& context, const Chain& chain, std::span<const NodeId> parts) {
  const Node& next = context.node(parts[0]);
  if (next.is("Sigmoid") && next.input(0) == chain.result && parts.size() > 1 &&
      isSwish(context, chain, next, context.node(parts[1])))
    return Chain::Operation{Chain::Kind::Swish, next.id, {}};
  const ValueId result = next.outputs.empty() ? ValueId() : next.outputs[0];
  const bool continues = onlyConsumer(context, chain.result) == next.id && result.valid() &&
                         context.dimsOf(result) == context.dimsOf(chain.result) &&
                         context.typeOf(result) == DataType::F32;
  if (!continues) return std::nullopt;
  if (next.is("BatchNormalization")) return batchNormOf(context, chain, next);
  if (next.is("Add")) return sumOf(context, chain, next);
  if (isFloatCast(context.graph(), next)) {
    const bool rounds = context.rounding().rounds(result) != DataType::Undefined;
    return rounds ? std::nullopt : std::optional(Chain::Operation{Chain::Kind::Cast, next.id, {}});
  }
  if (!isActivation(next) || next.input(0) != chain.result) return std::nullopt;
  for (std::size_t i = 1; next.is("Clip") && i < 3; ++i)
    if (next.input(i).valid() && !context.isConstant(next.input(i))) return std::nullopt;
  return Chain::Operation{Chain::Kind::Activation, next.id, {}};
}

}  // namespace

bool isConvolution(const Node& node) {
  return node.is("Conv") || node.is("ConvTranspose");
}

bool isMatrixProduct(const Node& node) {
  return node.is("MatMul") || node.is("Gemm");
}

Chain chainOf(const Node& root) {
  return {.root = root.id, .nodes = {root.id}, .operations = {}, .result = root.outputs[0]};
}

Chain chainAfter(const Context& context, const Node& root) {
  Chain chain = chainOf(root);
  const std::vector<NodeId> parts = partsAfter(context, root);
  const auto ends = [&](ValueId value) {
    return context.isFusedOutput(value) || context.rounding().rounds(value) != DataType::Undefined;
  };
  for (std::size_t i = 0; i < parts.size() && !ends(chain.result);) {
    const auto operation = operationOf(context, chain, std::span(parts).subspan(i));
    if (!operation) break;
    chain.operations.push_back(*operation);
    for (const std::size_t end = i + operation->nodeCount(); i < end; ++i) chain.nodes.push_back(parts[i]);
    chain.result = context.node(chain.nodes.back()).outputs[0];
  }
  return chain;
}

std::vector<NodeId> partsAfter(const Context& context, const Node& root) {
  const std::vector<Binding> bound = bindingsOf(context.fused().bindings, roles::kPart);
  const bool oneRoot = bindingsOf(context.fused().bindings, roles::kRoot).size() == 1;
  const auto isPart = [&](NodeId id) {
    const auto isBound = [id](const Binding& binding) {
      return binding.node == id && (binding.role == roles::kPart || binding.role == roles::kQuantize);
    };
    return bound.empty() || !oneRoot || isFloatCast(context.graph(), context.node(id)) ||
           std::ranges::any_of(context.fused().bindings, isBound);
  };
  std::set<NodeId> behind{root.id};
  std::vector<NodeId> parts;
  for (const NodeId id : context.fused().nodes) {
    const bool follows = std::ranges::any_of(context.node(id).inputs, [&](ValueId input) {
      const auto from = producer(context, input);
      return from && behind.contains(*from);
    });
    if (!follows || !isPart(id)) continue;
    behind.insert(id);
    parts.push_back(id);
  }
  return parts;
}

/// One number for each channel of a convolution, each column of a product.
bool isPerChannel(const Context& context, ValueId value, const Node& root) {
  const Dims dims = context.dimsOf(root.outputs[0]), own = context.dimsOf(value);
  const std::size_t axis = root.is("Conv") || root.is("ConvTranspose") ? 1 : dims.size() - 1,
                    fromEnd = dims.size() - axis;
  return own.size() >= fromEnd && own.size() <= dims.size() && own[own.size() - fromEnd] == dims[axis] &&
         elementCount(own) == dims[axis];
}

void claimChains(const Context& context, Units& units, bool (*isRoot)(const Node&),
                 Status (*emit)(Context&, const Chain&)) {
  const auto isTaken = [&](NodeId id) { return units.isTaken(id); };
  for (const NodeId id : context.fused().nodes) {
    const Node& root = context.node(id);
    if (isTaken(id) || !isRoot(root) || context.typeOf(root.outputs[0]) != DataType::F32) continue;
    Chain chain = chainAfter(context, root);
    if (std::ranges::any_of(chain.nodes, isTaken)) chain = chainOf(root);
    const NodeId last = chain.nodes.back();
    const std::set<NodeId> nodes(chain.nodes.begin(), chain.nodes.end());
    const auto run = [emit, chain = std::move(chain)](Context& at) -> Status {
      TRY(at.flush());
      return emit(at, chain);
    };
    units.add(last, run, nodes);
  }
}

ValueId resultOf(const Context& context, const Chain& chain, std::size_t taken) {
  return context.node(chain.nodes[taken - 1]).outputs[0];
}

void leaveToTapes(Context& context, const Chain& chain, std::size_t taken) {
  context.queue(std::span(chain.nodes).subspan(taken));
}

Status emitSeparately(Context& context, const Chain& chain) {
  for (const NodeId id : chain.nodes)
    TRY(isPointwise(context, context.node(id)) ? context.emitTape({id}) : emitReference(context, context.node(id)));
  return Done{};
}

EpilogueTape epilogueTape(const Context& context, const Chain& chain, std::size_t first, std::size_t taken) {
  TapeBuilder builder([&](ValueId value) { return context.constantNumber(value); },
                      [&](ValueId value) { return context.dimsOf(value).size(); },
                      [&](ValueId value) { return context.typeOf(value); });
  const ValueId product = resultOf(context, chain, first), result = resultOf(context, chain, taken);
  EpilogueTape tape;
  builder.registerOf(product);
  for (std::size_t i = first; i < taken; ++i) builder.add(context.node(chain.nodes[i]), DataType::F32);
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

}  // namespace fusescope::native
