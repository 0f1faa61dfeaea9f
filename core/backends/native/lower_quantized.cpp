#include <algorithm>

#include "backends/native/lowering.h"
#include "backends/native/onednn.h"
#include "backends/native/post_operations.h"
#include "backends/native/quantize_planes_step.h"
#include "backends/native/quantized_epilogue.h"
#include "planning/fusion/match.h"

// Convolutions and products of codes: which they are, what follows them, and by what they run.
namespace fusescope::native {
bool Lowering::sumsOfOneDnnAreExact() {
  using Isa = dnnl::cpu_isa;
  static const bool exact = [] {
    switch (dnnl::get_effective_cpu_isa()) {
      case Isa::isa_default:
      case Isa::sse41:
      case Isa::avx:
      case Isa::avx2:
      case Isa::avx512_core:
        return false;
      default:
        return true;
    }
  }();
  return exact;
}

std::optional<CodeScale> Lowering::codeScaleOf(const Node& node) const {
  const ValueId scale = node.input(1), zero = node.input(2);
  const DataType type = typeOf(node.is("QuantizeLinear") ? node.outputs[0] : node.input(0));
  const ValueId floats = node.is("QuantizeLinear") ? node.input(0) : node.outputs[0];
  const bool fits = m_heldCodes.contains(floats) || isQuantizationOfBytes(node);
  if (!fits || elementCount(dimsOf(scale)) != 1) return std::nullopt;
  return CodeScale{.scale = scale, .zero = zero.valid() ? constantNumber(zero).value_or(0) : 0, .type = type};
}

// By constants of f32, without the rules of their own that a block size or a precision bring.
bool Lowering::isQuantizationOfBytes(const Node& node) const {
  return (node.is("QuantizeLinear") || node.is("DequantizeLinear")) && node.domain.empty() && isTapeQuantization(node);
}

/// The scale of the codes that `value` is dequantised from, straight or before views; `codes` is what they are. Nodes
/// between that nothing else needs are absorbed.
std::optional<CodeScale> Lowering::codesBehind(ValueId value, bool throughViews, QuantizedChain& chain,
                                               ValueId& codes) const {
  bool alone = true;
  for (auto made = producer(value); made; made = producer(value)) {
    const Node& before = node(*made);
    alone = alone && onlyConsumer(value).has_value();
    const bool dequantizes = before.is("DequantizeLinear");
    if (!dequantizes && !(throughViews && alone && isView(m_graph, before))) return std::nullopt;
    if (alone) chain.absorbed.insert(*made);
    value = codes = before.input(0);
    if (dequantizes) return codeScaleOf(before);
  }
  return std::nullopt;
}

// Codes reach a convolution straight, a product also by views.
std::optional<QuantizedChain> Lowering::quantizedRoot(const Node& root) const {
  const bool product = root.is("MatMul") || root.is("Gemm"), conv = root.is("Conv") || root.is("ConvTranspose");
  if (!root.domain.empty() || !(product || conv) || m_request.plan->calculates[root.id.index] != DataType::I8)
    return std::nullopt;
  QuantizedChain chain{.root = root.id, .last = root.id};
  const auto scale = codesBehind(root.input(0), product, chain, chain.source);
  const auto weights = producer(root.input(1));
  if (!scale || isConstant(chain.source) || !weights || !node(*weights).is("DequantizeLinear")) return std::nullopt;
  if (root.input(2).valid() && !isConstant(root.input(2))) return std::nullopt;
  chain.sourceScale = *scale;
  chain.weights = *weights;
  const auto quantize = producer(chain.source), reader = onlyConsumer(chain.source);
  if (quantize && reader && chain.absorbed.contains(*reader) && node(*quantize).is("QuantizeLinear") &&
      codeScaleOf(node(*quantize)))
    chain.absorbed.insert(*quantize);
  if (isConstant(node(*weights).input(0)))
    return isQuantizationOfBytes(node(*weights)) ? std::optional(chain) : std::nullopt;
  const auto right = root.is("MatMul") ? codesBehind(root.input(1), false, chain, chain.right) : std::nullopt;
  if (!right) return std::nullopt;
  chain.rightScale = *right;
  return chain;
}

std::optional<QuantizedChain> Lowering::quantizedChainAfter(const Node& root) const {
  auto chain = quantizedRoot(root);
  if (!chain || !canMultiplyCodes(*chain)) return std::nullopt;
  const std::vector<NodeId> parts = partsAfter(root);
  const auto isPart = [&](NodeId id) { return std::ranges::find(parts, id) != parts.end(); };
  for (ValueId value = root.outputs[0];;) {
    const auto next = onlyConsumer(value);
    if (!next || !isPart(*next) || m_rounding.rounds(value) != DataType::Undefined) break;
    const auto operation = quantizedOperation(*chain, value, node(*next));
    if (!operation) break;
    chain->last = operation->nodes.back();
    value = node(chain->last).outputs[0];
    if (operation->nodes.size() == 1 && operation->kind == QuantizedChain::Kind::Round) {
      chain->result = operation;
      break;
    }
    chain->operations.push_back(*operation);
  }
  leaveCodes(*chain);
  return chain;
}

/// What is only dequantised at the end is left as codes.
void Lowering::leaveCodes(QuantizedChain& chain) const {
  if (chain.result || chain.operations.empty() || isFusedOutput(node(chain.last).outputs[0])) return;
  QuantizedChain::Operation& last = chain.operations.back();
  if (last.kind != QuantizedChain::Kind::Round) return;
  chain.result = QuantizedChain::Operation{.kind = last.kind, .nodes = {last.nodes[0]}, .codes = last.codes};
  chain.last = last.nodes[0];
  chain.operations.pop_back();
}

/// As what `next`, which alone reads `value`, continues the chain.
std::optional<QuantizedChain::Operation> Lowering::quantizedOperation(const QuantizedChain& chain, ValueId value,
                                                                      const Node& next) const {
  using Kind = QuantizedChain::Kind;
  const ValueId result = next.outputs.empty() ? ValueId() : next.outputs[0];
  if (!result.valid() || dimsOf(result) != dimsOf(node(chain.root).outputs[0])) return std::nullopt;
  if (next.is("QuantizeLinear")) {
    const auto codes = next.input(0) == value ? codeScaleOf(next) : std::nullopt;
    if (!codes) return std::nullopt;
    QuantizedChain::Operation operation{.kind = Kind::Round, .nodes = {next.id}, .codes = codes};
    const auto behind = onlyConsumer(result);
    const auto again = behind && node(*behind).is("DequantizeLinear") ? codeScaleOf(node(*behind)) : std::nullopt;
    const bool same = again && again->zero == codes->zero && again->type == codes->type &&
                      (again->scale == codes->scale || constantNumber(again->scale) == constantNumber(codes->scale));
    if (same) operation.nodes.push_back(*behind);
    return operation;
  }
  if (typeOf(result) != DataType::F32) return std::nullopt;
  if (next.is("Add")) return quantizedSum(chain, value, next);
  if (isFloatCast(m_graph, next)) {
    const bool rounds = m_rounding.rounds(result) != DataType::Undefined;
    return rounds ? std::nullopt : std::optional(QuantizedChain::Operation{.kind = Kind::Cast, .nodes = {next.id}});
  }
  if (!isActivation(next) || next.input(0) != value) return std::nullopt;
  for (std::size_t i = 1; i < next.inputs.size(); ++i)
    if (next.input(i).valid() && !isConstant(next.input(i))) return std::nullopt;
  return QuantizedChain::Operation{.kind = Kind::Activation, .nodes = {next.id}};
}

/// A bias, or a residual of codes or of floats.
std::optional<QuantizedChain::Operation> Lowering::quantizedSum(const QuantizedChain& chain, ValueId value,
                                                                const Node& sum) const {
  using Kind = QuantizedChain::Kind;
  if (sum.inputs[0] == sum.inputs[1]) return std::nullopt;
  const ValueId operand = otherOperand(sum, value);
  if (typeOf(operand) != DataType::F32) return std::nullopt;
  if (isConstant(operand)) {
    if (!isPerChannel(operand, node(chain.root))) return std::nullopt;
    return QuantizedChain::Operation{.kind = Kind::Bias, .nodes = {sum.id}, .operand = operand};
  }
  if (dimsOf(operand) != dimsOf(value)) return std::nullopt;
  QuantizedChain::Operation operation{.kind = Kind::Residual, .nodes = {sum.id}, .operand = operand};
  const auto made = producer(operand);
  const auto codes = made && node(*made).is("DequantizeLinear") ? codeScaleOf(node(*made)) : std::nullopt;
  if (codes && !isConstant(node(*made).input(0))) {
    operation.codes = codes;
    operation.operand = node(*made).input(0);
    if (onlyConsumer(operand)) operation.nodes.insert(operation.nodes.begin(), *made);
  }
  return operation;
}

/// One number for each channel of a convolution, each column of a product.
bool Lowering::isPerChannel(ValueId value, const Node& root) const {
  const Dims dims = dimsOf(root.outputs[0]), own = dimsOf(value);
  const std::size_t axis = root.is("Conv") || root.is("ConvTranspose") ? 1 : dims.size() - 1,
                    fromEnd = dims.size() - axis;
  return own.size() >= fromEnd && own.size() <= dims.size() && own[own.size() - fromEnd] == dims[axis] &&
         elementCount(own) == dims[axis];
}

// Of what the epilogue takes, the unit of the first step that needs one.
ValueId Lowering::firstUnit(const QuantizedChain& chain) const {
  using Kind = QuantizedChain::Kind;
  for (const QuantizedChain::Operation& operation : chain.operations) {
    if (operation.kind == Kind::Round || operation.kind == Kind::Residual)
      return operation.codes ? operation.codes->scale : ValueId();
    const Node& at = node(operation.nodes.front());
    if (operation.kind == Kind::Activation && !at.is("Relu") && !at.is("Clip")) return {};
  }
  return chain.result ? chain.result->codes->scale : ValueId();
}

void Lowering::takeQuantized(QuantizedChain chain, std::set<NodeId>& taken) {
  const auto take = [&](NodeId id) {
    taken.insert(id);
    if (id != chain.last) m_absorbed.insert(id);
  };
  for (const NodeId id : chain.absorbed) take(id);
  take(chain.root);
  for (const QuantizedChain::Operation& operation : chain.operations) std::ranges::for_each(operation.nodes, take);
  if (chain.result) take(chain.last);
  m_quantized.emplace(chain.last, std::move(chain));
}

/// What the kernel itself quantises: a few planes become codes with channels last in one pass.
Status Lowering::quantizeSource(const QuantizedChain& chain) {
  const auto made = producer(chain.source);
  if (!made || !chain.absorbed.contains(*made)) return Done{};
  const Node& quantize = node(*made);
  const Ref x = TRY(ref(quantize.input(0)));
  const bool planes = node(chain.root).is("Conv") && !m_options.ownBytes && sumsOfOneDnnAreExact() && x.contiguous() &&
                      x.dtype == DataType::F32 && x.dims[1] <= kMostPlanes;
  if (!planes) return emitTape({*made});
  const CodeScale codes = *codeScaleOf(quantize);
  const Ref target = allocateScratch(codes.type, x.dims, MemoryFormat::channelsLast(x.dims.size()));
  m_implementations.emplace_back("quantize");
  m_program.addStep(makeQuantizePlanesStep(x, target, *constantNumber(codes.scale), codes.zero, m_threads), {x.buffer},
                    {target.buffer});
  define(chain.source, target);
  return Done{};
}

Status Lowering::lowerQuantized(const QuantizedChain& chain) {
  TRY(quantizeSource(chain));
  const Node& root = node(chain.root);
  const bool conv = root.is("Conv") || root.is("ConvTranspose");
  const bool byOneDnn = !m_options.ownBytes && sumsOfOneDnnAreExact();
  if (chain.right.valid()) {
    if (byOneDnn && TRY(lowerProductOfCodes(chain))) return Done{};
    return lowerOwnProductOfCodes(chain);
  }
  if (byOneDnn && weightsAreSymmetric(chain) && TRY(conv ? lowerQuantizedConv(chain) : lowerQuantizedProduct(chain)))
    return Done{};
  return root.is("ConvTranspose") ? lowerAsFloats(chain) : lowerOwnQuantized(chain);
}

/// The nodes behind the first `taken` operations are for tapes.
void Lowering::leaveQuantized(const QuantizedChain& chain, std::size_t taken) {
  for (std::size_t i = taken; i < chain.operations.size(); ++i)
    m_pending.insert(m_pending.end(), chain.operations[i].nodes.begin(), chain.operations[i].nodes.end());
  if (chain.result) m_pending.push_back(chain.last);
}

}  // namespace fusescope::native
