#include "backends/native/lowering/quantized_chain.h"

#include <algorithm>

#include "backends/native/lowering/epilogue_chain.h"
#include "planning/kernel_bindings.h"

// Finds convolutions and products of codes and the operations that follow them.
namespace fusescope::native {
namespace {

/// Finds the codes of the first operand and the scale at which they are read.
bool takeSource(const Context& context, const CodesBefore& first, QuantizedChain& chain) {
  if (!first.dequantize.valid()) return false;
  const Node& dequantize = context.node(first.dequantize);
  const auto scale = codeScaleOf(context, dequantize);
  if (!scale || context.isConstant(dequantize.input(0))) return false;
  chain.source = dequantize.input(0);
  chain.sourceScale = *scale;
  chain.absorbed.insert(first.owned.begin(), first.owned.end());
  return true;
}

/// Finds the QuantizeLinear that makes these codes only for the kernel, if the kernel can quantise them itself.
void takeQuantize(const Context& context, const CodesBefore& first, QuantizedChain& chain) {
  if (!first.quantize.valid() || !codeScaleOf(context, context.node(first.quantize))) return;
  chain.quantize = first.quantize;
  chain.absorbed.insert(first.quantize);
}

/// Returns the chain that consists of the root and the nodes that make the codes which it multiplies.
std::optional<QuantizedChain> quantizedRoot(const Context& context, const RootBinding& bound) {
  const Node& root = context.node(bound.root);
  if (context.request().plan->calculates[root.id.index] != DataType::I8) return std::nullopt;
  QuantizedChain chain{.root = root.id, .last = root.id};
  if (!takeSource(context, bound.first, chain) || !bound.second.dequantize.valid()) return std::nullopt;
  if (root.input(2).valid() && !context.isConstant(root.input(2))) return std::nullopt;
  chain.weights = bound.second.dequantize;
  takeQuantize(context, bound.first, chain);
  const Node& dequantize = context.node(chain.weights);
  if (context.isConstant(dequantize.input(0)))
    return isQuantizationOfBytes(context, dequantize) ? std::optional(chain) : std::nullopt;
  const auto right = root.is("MatMul") ? codeScaleOf(context, dequantize) : std::nullopt;
  if (!right) return std::nullopt;
  chain.right = dequantize.input(0);
  chain.rightScale = *right;
  chain.absorbed.insert(bound.second.owned.begin(), bound.second.owned.end());
  return chain;
}

bool canMultiplyCodes(const Context& context, const QuantizedChain& chain) {
  const Node &root = context.node(chain.root), &dequantize = context.node(chain.weights);
  const Dims source = context.dimsOf(root.input(0)), weights = context.dimsOf(dequantize.input(0)),
             result = context.dimsOf(root.outputs[0]);
  if (elementCount(source).value_or(0) == 0 || elementCount(result).value_or(0) == 0) return false;
  const bool conv = isConvolution(root), turned = root.intAttribute("transB", 0) != 0;
  if (chain.right.valid()) return source.size() >= 2 && weights.size() >= 2;
  if (conv ? source.size() < 3 || source.size() > 5 : source.size() < 2 || weights.size() != 2) return false;
  if (root.is("ConvTranspose") && root.intAttribute("group", 1) != 1) return false;
  const std::int64_t channels = channelsOf(root, result);
  if (root.input(2).valid() && elementCount(context.dimsOf(root.input(2))) != channels) return false;
  const bool plainGemm = root.intAttribute("transA", 0) == 0 && root.floatAttribute("alpha", 1.0f) == 1.0f &&
                         root.floatAttribute("beta", 1.0f) == 1.0f;
  if (!plainGemm) return false;
  const std::size_t axis = root.is("Conv") || turned ? 0 : 1;
  const bool along = positiveAxis(dequantize.intAttribute("axis", 1), weights.size()) == axis;
  return elementCount(context.dimsOf(dequantize.input(1))) == 1 || along;
}

/// Returns the sum as a bias, or as a residual of codes or of floats.
std::optional<QuantizedChain::Operation> quantizedSum(const Context& context, const QuantizedChain& chain,
                                                      const EpilogueOperation& sum) {
  using Kind = QuantizedChain::Kind;
  if (context.typeOf(sum.operand) != DataType::F32) return std::nullopt;
  if (context.isConstant(sum.operand)) {
    if (!isPerChannel(context, sum.operand, context.node(chain.root))) return std::nullopt;
    return QuantizedChain::Operation{.kind = Kind::Bias, .nodes = sum.nodes, .operand = sum.operand};
  }
  if (context.dimsOf(sum.operand) != context.dimsOf(sum.source)) return std::nullopt;
  QuantizedChain::Operation operation{.kind = Kind::Residual, .nodes = sum.nodes, .operand = sum.operand};
  if (!sum.operandCodes.dequantize.valid()) return operation;
  const Node& dequantize = context.node(sum.operandCodes.dequantize);
  const auto codes = codeScaleOf(context, dequantize);
  if (codes && !context.isConstant(dequantize.input(0))) {
    operation.codes = codes;
    operation.operand = dequantize.input(0);
    const std::vector<NodeId>& owned = sum.operandCodes.owned;
    operation.nodes.insert(operation.nodes.begin(), owned.begin(), owned.end());
  }
  return operation;
}

/// Returns a QuantizeLinear, together with the DequantizeLinear that follows it if that inverts it.
std::optional<QuantizedChain::Operation> quantizedRound(const Context& context, const EpilogueOperation& quantize) {
  const auto codes = codeScaleOf(context, context.node(quantize.nodes[0]));
  if (!codes) return std::nullopt;
  QuantizedChain::Operation operation{
      .kind = QuantizedChain::Kind::Round, .nodes = {quantize.nodes[0]}, .codes = codes};
  const auto again = quantize.nodes.size() == 2 ? codeScaleOf(context, context.node(quantize.nodes[1])) : std::nullopt;
  const bool same =
      again && again->zero == codes->zero && again->type == codes->type &&
      (again->scale == codes->scale || context.constantNumber(again->scale) == context.constantNumber(codes->scale));
  if (same) operation.nodes.push_back(quantize.nodes[1]);
  return operation;
}

std::optional<QuantizedChain::Operation> quantizedActivation(const Context& context, const Node& node) {
  if (!isActivation(node)) return std::nullopt;
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    if (node.input(i).valid() && !context.isConstant(node.input(i))) return std::nullopt;
  return QuantizedChain::Operation{.kind = QuantizedChain::Kind::Activation, .nodes = {node.id}};
}

/// Returns the operation by which `next` continues the chain, or nothing if it cannot.
std::optional<QuantizedChain::Operation> quantizedOperation(const Context& context, const QuantizedChain& chain,
                                                            const EpilogueOperation& next) {
  using Bound = EpilogueOperation::Kind;
  const Node& node = context.node(next.nodes[0]);
  const ValueId result = node.outputs[0];
  if (context.dimsOf(result) != context.dimsOf(context.node(chain.root).outputs[0])) return std::nullopt;
  if (next.kind == Bound::Quantize) return quantizedRound(context, next);
  if (context.typeOf(result) != DataType::F32) return std::nullopt;
  const bool isRounded = context.rounding().rounds(result) != DataType::Undefined;
  switch (next.kind) {
    case Bound::Sum:
      return quantizedSum(context, chain, next);
    case Bound::Cast:
      return isRounded
                 ? std::nullopt
                 : std::optional(QuantizedChain::Operation{.kind = QuantizedChain::Kind::Cast, .nodes = next.nodes});
    case Bound::Function:
      return quantizedActivation(context, node);
    default:
      return std::nullopt;
  }
}

/// If the last operation only rounds to codes and dequantises them, and the result of the dequantisation is not an
/// output, the chain ends with the codes.
void leaveCodes(const Context& context, QuantizedChain& chain) {
  if (chain.result || chain.operations.empty() || context.isFusedOutput(context.node(chain.last).outputs[0])) return;
  QuantizedChain::Operation& last = chain.operations.back();
  if (last.kind != QuantizedChain::Kind::Round) return;
  chain.result = QuantizedChain::Operation{.kind = last.kind, .nodes = {last.nodes[0]}, .codes = last.codes};
  chain.last = last.nodes[0];
  chain.operations.pop_back();
}

}  // namespace

std::int64_t channelsOf(const Node& root, const Dims& result) {
  return isConvolution(root) ? result[1] : result.back();
}

std::optional<QuantizedChain> quantizedChainAfter(const Context& context, const RootBinding& root) {
  auto chain = quantizedRoot(context, root);
  if (!chain || !canMultiplyCodes(context, *chain)) return std::nullopt;
  for (const EpilogueOperation& next : root.epilogue) {
    if (context.rounding().rounds(next.source) != DataType::Undefined) break;
    const auto operation = quantizedOperation(context, *chain, next);
    if (!operation) break;
    chain->last = operation->nodes.back();
    if (operation->nodes.size() == 1 && operation->kind == QuantizedChain::Kind::Round) {
      chain->result = operation;
      break;
    }
    chain->operations.push_back(*operation);
  }
  leaveCodes(context, *chain);
  return chain;
}

}  // namespace fusescope::native
