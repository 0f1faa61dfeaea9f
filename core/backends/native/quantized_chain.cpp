#include "backends/native/quantized_chain.h"

#include <algorithm>

#include "backends/native/epilogue_chain.h"
#include "backends/native/neighbours.h"
#include "backends/native/post_operations.h"
#include "backends/native/quantized_parts.h"
#include "planning/fusion/match.h"

// Convolutions and products of codes: which they are, and what follows them.
namespace fusescope::native {
namespace {

/// The scale of the codes that `value` is dequantised from, straight or before views; `codes` is what they are. Nodes
/// between that nothing else needs are absorbed.
std::optional<CodeScale> codesBehind(const Context& context, ValueId value, bool throughViews, QuantizedChain& chain,
                                     ValueId& codes) {
  bool alone = true;
  for (auto made = producer(context, value); made; made = producer(context, value)) {
    const Node& before = context.node(*made);
    alone = alone && onlyConsumer(context, value).has_value();
    const bool dequantizes = before.is("DequantizeLinear");
    if (!dequantizes && !(throughViews && alone && isView(context.graph(), before))) return std::nullopt;
    if (alone) chain.absorbed.insert(*made);
    value = codes = before.input(0);
    if (dequantizes) return codeScaleOf(context, before);
  }
  return std::nullopt;
}

// Codes reach a convolution straight, a product also by views.
std::optional<QuantizedChain> quantizedRoot(const Context& context, const Node& root) {
  const bool product = root.is("MatMul") || root.is("Gemm"), conv = root.is("Conv") || root.is("ConvTranspose");
  if (!root.domain.empty() || !(product || conv) || context.request().plan->calculates[root.id.index] != DataType::I8)
    return std::nullopt;
  QuantizedChain chain{.root = root.id, .last = root.id};
  const auto scale = codesBehind(context, root.input(0), product, chain, chain.source);
  const auto weights = producer(context, root.input(1));
  if (!scale || context.isConstant(chain.source) || !weights || !context.node(*weights).is("DequantizeLinear"))
    return std::nullopt;
  if (root.input(2).valid() && !context.isConstant(root.input(2))) return std::nullopt;
  chain.sourceScale = *scale;
  chain.weights = *weights;
  const auto quantize = producer(context, chain.source), reader = onlyConsumer(context, chain.source);
  if (quantize && reader && chain.absorbed.contains(*reader) && context.node(*quantize).is("QuantizeLinear") &&
      codeScaleOf(context, context.node(*quantize))) {
    chain.quantize = *quantize;
    chain.absorbed.insert(*quantize);
  }
  if (context.isConstant(context.node(*weights).input(0)))
    return isQuantizationOfBytes(context, context.node(*weights)) ? std::optional(chain) : std::nullopt;
  const auto right = root.is("MatMul") ? codesBehind(context, root.input(1), false, chain, chain.right) : std::nullopt;
  if (!right) return std::nullopt;
  chain.rightScale = *right;
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

/// A bias, or a residual of codes or of floats.
std::optional<QuantizedChain::Operation> quantizedSum(const Context& context, const QuantizedChain& chain,
                                                      ValueId value, const Node& sum) {
  using Kind = QuantizedChain::Kind;
  if (sum.inputs[0] == sum.inputs[1]) return std::nullopt;
  const ValueId operand = otherOperand(sum, value);
  if (context.typeOf(operand) != DataType::F32) return std::nullopt;
  if (context.isConstant(operand)) {
    if (!isPerChannel(context, operand, context.node(chain.root))) return std::nullopt;
    return QuantizedChain::Operation{.kind = Kind::Bias, .nodes = {sum.id}, .operand = operand};
  }
  if (context.dimsOf(operand) != context.dimsOf(value)) return std::nullopt;
  QuantizedChain::Operation operation{.kind = Kind::Residual, .nodes = {sum.id}, .operand = operand};
  const auto made = producer(context, operand);
  const auto codes =
      made && context.node(*made).is("DequantizeLinear") ? codeScaleOf(context, context.node(*made)) : std::nullopt;
  if (codes && !context.isConstant(context.node(*made).input(0))) {
    operation.codes = codes;
    operation.operand = context.node(*made).input(0);
    if (onlyConsumer(context, operand)) operation.nodes.insert(operation.nodes.begin(), *made);
  }
  return operation;
}

/// As what `next`, which alone reads `value`, continues the chain.
std::optional<QuantizedChain::Operation> quantizedOperation(const Context& context, const QuantizedChain& chain,
                                                            ValueId value, const Node& next) {
  using Kind = QuantizedChain::Kind;
  const ValueId result = next.outputs.empty() ? ValueId() : next.outputs[0];
  if (!result.valid() || context.dimsOf(result) != context.dimsOf(context.node(chain.root).outputs[0]))
    return std::nullopt;
  if (next.is("QuantizeLinear")) {
    const auto codes = next.input(0) == value ? codeScaleOf(context, next) : std::nullopt;
    if (!codes) return std::nullopt;
    QuantizedChain::Operation operation{.kind = Kind::Round, .nodes = {next.id}, .codes = codes};
    const auto behind = onlyConsumer(context, result);
    const auto again = behind && context.node(*behind).is("DequantizeLinear")
                           ? codeScaleOf(context, context.node(*behind))
                           : std::nullopt;
    const bool same =
        again && again->zero == codes->zero && again->type == codes->type &&
        (again->scale == codes->scale || context.constantNumber(again->scale) == context.constantNumber(codes->scale));
    if (same) operation.nodes.push_back(*behind);
    return operation;
  }
  if (context.typeOf(result) != DataType::F32) return std::nullopt;
  if (next.is("Add")) return quantizedSum(context, chain, value, next);
  if (isFloatCast(context.graph(), next)) {
    const bool rounds = context.rounding().rounds(result) != DataType::Undefined;
    return rounds ? std::nullopt : std::optional(QuantizedChain::Operation{.kind = Kind::Cast, .nodes = {next.id}});
  }
  if (!isActivation(next) || next.input(0) != value) return std::nullopt;
  for (std::size_t i = 1; i < next.inputs.size(); ++i)
    if (next.input(i).valid() && !context.isConstant(next.input(i))) return std::nullopt;
  return QuantizedChain::Operation{.kind = Kind::Activation, .nodes = {next.id}};
}

/// What is only dequantised at the end is left as codes.
void leaveCodes(const Context& context, QuantizedChain& chain) {
  if (chain.result || chain.operations.empty() || context.isFusedOutput(context.node(chain.last).outputs[0])) return;
  QuantizedChain::Operation& last = chain.operations.back();
  if (last.kind != QuantizedChain::Kind::Round) return;
  chain.result = QuantizedChain::Operation{.kind = last.kind, .nodes = {last.nodes[0]}, .codes = last.codes};
  chain.last = last.nodes[0];
  chain.operations.pop_back();
}

}  // namespace

std::optional<QuantizedChain> quantizedChainAfter(const Context& context, const Node& root) {
  auto chain = quantizedRoot(context, root);
  if (!chain || !canMultiplyCodes(context, *chain)) return std::nullopt;
  const std::vector<NodeId> parts = partsAfter(context, root);
  const auto isPart = [&](NodeId id) { return std::ranges::find(parts, id) != parts.end(); };
  for (ValueId value = root.outputs[0];;) {
    const auto next = onlyConsumer(context, value);
    if (!next || !isPart(*next) || context.rounding().rounds(value) != DataType::Undefined) break;
    const auto operation = quantizedOperation(context, *chain, value, context.node(*next));
    if (!operation) break;
    chain->last = operation->nodes.back();
    value = context.node(chain->last).outputs[0];
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
