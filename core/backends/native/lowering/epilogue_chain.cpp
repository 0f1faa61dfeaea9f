#include "backends/native/lowering/epilogue_chain.h"

#include <algorithm>
#include <set>
#include <string>

#include "backends/native/lowering/emit_reference.h"
#include "backends/native/lowering/tape_nodes.h"

namespace fusescope::native {
namespace {

/// Returns a batch norm that is folded into the weights of a convolution. This is possible if only biases, batch norms
/// and casts come before it in the chain.
std::optional<Chain::Operation> batchNormOf(const Context& context, const Chain& chain, const Node& norm) {
  const bool folds = isConvolution(context.node(chain.root)) &&
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

/// Returns the sum as a bias per channel (per column of a product), or as a residual of the same extents.
std::optional<Chain::Operation> sumOf(const Context& context, const Chain& chain, const EpilogueOperation& sum) {
  const Dims dims = context.dimsOf(sum.source), other = context.dimsOf(sum.operand);
  if (context.typeOf(sum.operand) != DataType::F32) return std::nullopt;
  if (other == dims) return Chain::Operation{Chain::Kind::Residual, sum.nodes[0], sum.operand};
  if (!context.isConstant(sum.operand)) return std::nullopt;
  return isPerChannel(context, sum.operand, context.node(chain.root))
             ? std::optional(Chain::Operation{Chain::Kind::Bias, sum.nodes[0], sum.operand})
             : std::nullopt;
}

std::optional<Chain::Operation> activationOf(const Context& context, const Node& node) {
  if (!isActivation(node)) return std::nullopt;
  for (std::size_t i = 1; node.is("Clip") && i < 3; ++i)
    if (node.input(i).valid() && !context.isConstant(node.input(i))) return std::nullopt;
  return Chain::Operation{Chain::Kind::Activation, node.id, {}};
}

/// Returns the operation by which `next` continues the chain, or nothing if it cannot.
std::optional<Chain::Operation> operationOf(const Context& context, const Chain& chain, const EpilogueOperation& next) {
  using Bound = EpilogueOperation::Kind;
  const Node& node = context.node(next.nodes[0]);
  if (next.kind == Bound::Swish) return Chain::Operation{Chain::Kind::Swish, node.id, {}};
  const ValueId result = node.outputs[0];
  if (context.dimsOf(result) != context.dimsOf(next.source) || context.typeOf(result) != DataType::F32)
    return std::nullopt;
  const bool isRounded = context.rounding().rounds(result) != DataType::Undefined;
  switch (next.kind) {
    case Bound::BatchNorm:
      return batchNormOf(context, chain, node);
    case Bound::Sum:
      return sumOf(context, chain, next);
    case Bound::Cast:
      return isRounded ? std::nullopt : std::optional(Chain::Operation{Chain::Kind::Cast, node.id, {}});
    case Bound::Function:
      return activationOf(context, node);
    default:
      return std::nullopt;
  }
}

}  // namespace

bool isConvolution(const Node& node) {
  return node.is("Conv") || node.is("ConvTranspose");
}

bool isActivation(const Node& node) {
  static const std::set<std::string, std::less<>> kNames = {"Relu", "LeakyRelu", "Clip",        "Sigmoid",  "Tanh",
                                                            "Elu",  "HardSwish", "HardSigmoid", "Softplus", "Mish",
                                                            "Gelu", "Abs",       "Swish"};
  return node.domain.empty() && kNames.contains(node.op);
}

Chain chainOf(const Node& root) {
  return {.root = root.id, .nodes = {root.id}, .operations = {}, .result = root.outputs[0]};
}

Chain chainAfter(const Context& context, const RootBinding& root) {
  Chain chain = chainOf(context.node(root.root));
  for (const EpilogueOperation& next : root.epilogue) {
    if (context.rounding().rounds(chain.result) != DataType::Undefined) break;
    const auto operation = operationOf(context, chain, next);
    if (!operation) break;
    chain.operations.push_back(*operation);
    chain.nodes.insert(chain.nodes.end(), next.nodes.begin(), next.nodes.end());
    chain.result = next.result;
  }
  return chain;
}

/// Returns whether `value` has one number for each channel of a convolution or for each column of a product.
bool isPerChannel(const Context& context, ValueId value, const Node& root) {
  const Dims dims = context.dimsOf(root.outputs[0]), own = context.dimsOf(value);
  const std::size_t axis = root.is("Conv") || root.is("ConvTranspose") ? 1 : dims.size() - 1,
                    fromEnd = dims.size() - axis;
  return own.size() >= fromEnd && own.size() <= dims.size() && own[own.size() - fromEnd] == dims[axis] &&
         elementCount(own) == dims[axis];
}

void claimChains(const Context& context, Units& units, RootBinding::Kind kind, Status (*emit)(Context&, const Chain&)) {
  const auto isClaimed = [&](NodeId id) { return units.isClaimed(id); };
  for (const RootBinding& bound : kernelBindings(context.fused()).roots) {
    const Node& root = context.node(bound.root);
    if (bound.kind != kind || isClaimed(root.id) || context.typeOf(root.outputs[0]) != DataType::F32) continue;
    Chain chain = chainAfter(context, bound);
    if (std::ranges::any_of(chain.nodes, isClaimed)) chain = chainOf(root);
    const NodeId last = chain.nodes.back();
    const std::set<NodeId> nodes(chain.nodes.begin(), chain.nodes.end());
    const auto run = [emit, chain = std::move(chain)](Context& at) -> Status {
      TRY(at.flush());
      return emit(at, chain);
    };
    units.add(last, run, nodes);
  }
}

ValueId resultOf(const Context& context, const Chain& chain, std::size_t included) {
  return context.node(chain.nodes[included - 1]).outputs[0];
}

void leaveToTapes(Context& context, const Chain& chain, std::size_t included) {
  context.queue(std::span(chain.nodes).subspan(included));
}

Status emitSeparately(Context& context, const Chain& chain) {
  for (const NodeId id : chain.nodes)
    TRY(isPointwise(context, context.node(id)) ? context.emitTape({id}) : emitReference(context, context.node(id)));
  return Done{};
}

EpilogueTape epilogueTape(const Context& context, const Chain& chain, std::size_t first, std::size_t included) {
  TapeBuilder builder([&](ValueId value) { return context.constantNumber(value); },
                      [&](ValueId value) { return context.dimsOf(value).size(); },
                      [&](ValueId value) { return context.typeOf(value); });
  const ValueId product = resultOf(context, chain, first), result = resultOf(context, chain, included);
  EpilogueTape tape;
  builder.registerOf(product);
  for (std::size_t i = first; i < included; ++i) builder.add(context.node(chain.nodes[i]), DataType::F32);
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
