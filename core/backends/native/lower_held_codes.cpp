#include <algorithm>

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

void Lowering::findHeldCodes() {
  for (const NodeId id : m_fused.nodes) {
    const Node& quantize = node(id);
    const auto made = quantize.is("QuantizeLinear") ? producer(quantize.input(0)) : std::nullopt;
    if (!made || !picks(node(*made))) continue;
    const auto codes = codeScaleOf(quantize);
    std::vector<ValueId> held;
    if (!codes || !(constantNumber(codes->scale) > 0.0f) || !canHoldCodes(quantize.input(0), held)) continue;
    for (const ValueId value : held) m_heldCodes.emplace(value, *codes);
  }
}

/// Where its codes begin or end to be held: whether it took the node.
Result<bool> Lowering::passHeldCodes(const Node& node) {
  const bool begins = node.is("DequantizeLinear") && m_heldCodes.contains(node.outputs[0]);
  const bool ends = node.is("QuantizeLinear") && m_heldCodes.contains(node.input(0));
  if (!begins && !ends) return false;
  if (waits(node.inputs)) TRY(flushPointwise());
  const Ref codes = TRY(ref(node.input(0)));
  define(node.outputs[0], begins ? TRY(rescaled(codes, *codeScaleOf(node), m_heldCodes.at(node.outputs[0]))) : codes);
  return true;
}

/// saturate(round((codes - zero) · scale / its scale) + its zero)
Result<Ref> Lowering::rescaled(const Ref& codes, const CodeScale& from, const CodeScale& to) {
  const float scale = constantNumber(from.scale).value(), wanted = constantNumber(to.scale).value();
  if (scale == wanted && from.zero == to.zero && from.type == to.type) return codes;
  const bool keeps = !codes.format.isPlain() && codes.format.padded(codes.dims) == codes.dims;
  const MemoryFormat format = keeps ? codes.format : MemoryFormat();
  const Ref source = keeps ? codes : TRY(plain(codes)), target = allocateScratch(to.type, codes.dims, format);
  const Dims extents = format.memoryExtents(codes.dims), strides = rowMajorStrides(extents);
  TapeProgram program{
      .extents = extents, .numbers = {{1, from.zero}, {2, scale}, {3, wanted}, {4, to.zero}}, .registers = 6};
  program.inputs.push_back({source, strides, 0});
  program.outputs.push_back({target, strides, 5});
  program.code = {{.op = TapeOp::Sub, .target = 5, .a = 0, .b = 1},
                  {.op = TapeOp::Mul, .target = 5, .a = 5, .b = 2},
                  {.op = TapeOp::Div, .target = 5, .a = 5, .b = 3},
                  {.op = TapeOp::Round, .target = 5, .a = 5},
                  {.op = TapeOp::Add, .target = 5, .a = 5, .b = 4},
                  {.op = TapeOp::Saturate, .target = 5, .a = 5, .p = to.least(), .q = to.most()}};
  m_implementations.emplace_back("pointwise");
  m_program.addStep(makePointwiseStep(std::move(program), m_threads), {source.buffer}, {target.buffer});
  return target;
}

}  // namespace fusescope::native
