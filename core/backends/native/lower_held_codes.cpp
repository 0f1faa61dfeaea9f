#include <algorithm>

#include "backends/native/code_table.h"
#include "backends/native/lowering.h"

// Codes that are only picked and moved between a DequantizeLinear and a QuantizeLinear: they stay codes. Picking
// commutes with what changes each element alone and keeps their order, so that a change of scale can come first.
namespace fusescope::native {
namespace {

/// Its result has elements of its data as they are; MaxPool picks them by their order.
bool picks(const Node& node) {
  static const std::set<std::string, std::less<>> kOperators = {
      "MaxPool", "Concat", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Slice"};
  const auto results = std::ranges::count_if(node.outputs, [](ValueId value) { return value.valid(); });
  return node.domain.empty() && kOperators.contains(node.op) && results == 1;
}

std::span<const ValueId> dataOf(const Node& node) {
  return std::span(node.inputs).first(node.is("Concat") ? node.inputs.size() : 1);
}

}  // namespace

/// Whether `value`, read by one node, can be held as codes; fills in all values that then are.
bool Lowering::canHoldCodes(ValueId value, std::vector<ValueId>& held) const {
  const auto made = producer(value);
  if (!made || !onlyConsumer(value)) return false;
  const Node& before = node(*made);
  held.push_back(value);
  if (before.is("DequantizeLinear"))
    return codeScaleOf(before).has_value() && !isConstant(before.input(0)) && constantNumber(before.input(1)) > 0.0f;
  const auto holds = [&](ValueId data) { return canHoldCodes(data, held); };
  return picks(before) && std::ranges::all_of(dataOf(before), holds);
}

/// Where nothing is joined, codes stay those that were read until the end: what is picked is never more than what it
/// is picked from. Else they are held at the scale of the result.
CodeScale Lowering::heldScale(const Node& quantize, const std::vector<ValueId>& held) const {
  const Node& begin = node(*producer(held.back()));
  const bool joins = std::ranges::any_of(held, [&](ValueId value) { return node(*producer(value)).is("Concat"); });
  return *codeScaleOf(joins ? quantize : begin);
}

void Lowering::findHeldCodes() {
  for (const NodeId id : m_fused.nodes) {
    const Node& quantize = node(id);
    const auto made = quantize.is("QuantizeLinear") ? producer(quantize.input(0)) : std::nullopt;
    if (!made || !picks(node(*made))) continue;
    const auto codes = codeScaleOf(quantize);
    std::vector<ValueId> held;
    if (!codes || !(constantNumber(codes->scale) > 0.0f) || !canHoldCodes(quantize.input(0), held)) continue;
    const CodeScale scale = heldScale(quantize, held);
    for (const ValueId value : held) m_heldCodes.emplace(value, scale);
  }
}

/// Where its codes begin or end to be held: whether it took the node.
Result<bool> Lowering::passHeldCodes(const Node& node) {
  const bool begins = node.is("DequantizeLinear") && m_heldCodes.contains(node.outputs[0]);
  const bool ends = node.is("QuantizeLinear") && m_heldCodes.contains(node.input(0));
  if (!begins && !ends) return false;
  if (waits(node.inputs)) TRY(flushPointwise());
  const CodeScale own = *codeScaleOf(node), held = m_heldCodes.at(begins ? node.outputs[0] : node.input(0));
  Ref codes = TRY(ref(node.input(0)));
  const auto reader = onlyConsumer(node.outputs[0]);
  if (begins && reader && this->node(*reader).is("Concat")) {  // which changes the scale on the way
    if (const auto program = rescaling(own, held)) m_heldTables.emplace(node.outputs[0], *codeTableOf(*program));
    codes.dtype = held.type;
    define(node.outputs[0], codes);
  } else {
    define(node.outputs[0],
           TRY(begins ? rescaled(codes, own, held, node.outputs[0]) : rescaled(codes, held, own, node.outputs[0])));
  }
  return true;
}

/// saturate(round((codes - zero) · scale / its scale) + its zero), without extents; nothing where that changes no code.
std::optional<TapeProgram> Lowering::rescaling(const CodeScale& from, const CodeScale& to) const {
  const float scale = constantNumber(from.scale).value(), wanted = constantNumber(to.scale).value();
  if (scale == wanted && from.zero == to.zero && from.type == to.type) return std::nullopt;
  TapeProgram program{.numbers = {{1, from.zero}, {2, scale}, {3, wanted}, {4, to.zero}}, .registers = 6};
  program.inputs.push_back({{.dtype = from.type}, {}, 0});
  program.outputs.push_back({{.dtype = to.type}, {}, 5});
  program.code = {{.op = TapeOp::Dequantize, .target = 5, .a = 0, .b = 1, .c = 2},
                  {.op = TapeOp::Quantize, .target = 5, .a = 5, .b = 3, .c = 4, .p = to.least(), .q = to.most()}};
  return program;
}

/// `codes` at another scale, as `result`.
Result<Ref> Lowering::rescaled(const Ref& codes, const CodeScale& from, const CodeScale& to, ValueId result) {
  auto program = rescaling(from, to);
  if (!program) return codes;
  const bool keeps = !codes.format.isPlain() && codes.format.padded(codes.dims) == codes.dims;
  const MemoryFormat format = keeps ? codes.format : MemoryFormat();
  const Ref source = keeps ? codes : TRY(plain(codes)), target = allocate(result, format, to.type);
  program->extents = format.memoryExtents(codes.dims);
  program->inputs[0].ref = source;
  program->outputs[0].ref = target;
  program->inputs[0].strides = program->outputs[0].strides = rowMajorStrides(program->extents);
  m_implementations.emplace_back("pointwise");
  m_program.addStep(makePointwiseStep(std::move(*program), m_threads), {source.buffer}, {target.buffer});
  return target;
}

}  // namespace fusescope::native
