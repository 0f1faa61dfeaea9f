#include <algorithm>
#include <memory>

#include "backends/native/code_scales.h"
#include "backends/native/concat.h"
#include "backends/native/emitter.h"
#include "backends/native/neighbours.h"
#include "backends/native/pointwise_step.h"

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

/// Whether `value`, read by one node, can be held as codes; fills in all values that then are.
bool canHoldCodes(const Context& context, ValueId value, std::vector<ValueId>& held) {
  const auto made = producer(context, value);
  if (!made || !onlyConsumer(context, value)) return false;
  const Node& before = context.node(*made);
  held.push_back(value);
  if (before.is("DequantizeLinear"))
    return codeScaleOf(context, before).has_value() && !context.isConstant(before.input(0)) &&
           context.constantNumber(before.input(1)) > 0.0f;
  const auto holds = [&](ValueId data) { return canHoldCodes(context, data, held); };
  return picks(before) && std::ranges::all_of(dataOf(before), holds);
}

/// Where nothing is joined, codes stay those that were read until the end: what is picked is never more than what it
/// is picked from. Else they are held at the scale of the result.
CodeScale heldScale(const Context& context, const Node& quantize, const std::vector<ValueId>& held) {
  const Node& begin = context.node(*producer(context, held.back()));
  const bool joins =
      std::ranges::any_of(held, [&](ValueId value) { return context.node(*producer(context, value)).is("Concat"); });
  return *codeScaleOf(context, joins ? quantize : begin);
}

/// saturate(round((codes - zero) · scale / its scale) + its zero), without extents; nothing where that changes no code.
std::optional<TapeProgram> rescaling(const Context& context, const CodeScale& from, const CodeScale& to) {
  const float scale = context.constantNumber(from.scale).value(), wanted = context.constantNumber(to.scale).value();
  if (scale == wanted && from.zero == to.zero && from.type == to.type) return std::nullopt;
  TapeProgram program{.numbers = {{1, from.zero}, {2, scale}, {3, wanted}, {4, to.zero}}, .registers = 6};
  program.inputs.push_back({{.dtype = from.type}, {}, 0});
  program.outputs.push_back({{.dtype = to.type}, {}, 5});
  program.code = {{.op = TapeOp::Dequantize, .target = 5, .a = 0, .b = 1, .c = 2},
                  {.op = TapeOp::Quantize, .target = 5, .a = 5, .b = 3, .c = 4, .p = to.least(), .q = to.most()}};
  return program;
}

/// `codes` at another scale, as `result`.
Result<Ref> rescaled(Context& context, const Ref& codes, const CodeScale& from, const CodeScale& to, ValueId result) {
  auto program = rescaling(context, from, to);
  if (!program) return codes;
  const bool keeps = !codes.format.isPlain() && codes.format.padded(codes.dims) == codes.dims;
  const MemoryFormat format = keeps ? codes.format : MemoryFormat();
  const Ref source = keeps ? codes : TRY(context.plain(codes)), target = context.allocate(result, format, to.type);
  program->extents = format.memoryExtents(codes.dims);
  program->inputs[0].ref = source;
  program->outputs[0].ref = target;
  program->inputs[0].strides = program->outputs[0].strides = rowMajorStrides(program->extents);
  context.chose({.kind = kPointwiseKernel});
  context.program().addStep(makePointwiseStep(std::move(*program), context.threads()), {source.buffer},
                            {target.buffer});
  return target;
}

/// What the units of a fused node share.
struct Held {
  std::map<ValueId, CodeScale> scales;  ///< at which values are held
  CodeTables tables;                    ///< what a Concat translates as it copies
};

/// A DequantizeLinear, where codes begin to be held. A Concat behind it changes the scale on the way.
Status beginToHold(Context& context, const Node& node, Held& held) {
  TRY(context.flushFor(node.inputs));
  const ValueId result = node.outputs[0];
  const CodeScale own = *codeScaleOf(context, node), scale = held.scales.at(result);
  Ref codes = TRY(context.ref(node.input(0)));
  if (context.node(*onlyConsumer(context, result)).is("Concat")) {
    if (const auto program = rescaling(context, own, scale)) held.tables.emplace(result, *codeTableOf(*program));
    codes.dtype = scale.type;
    context.define(result, codes);
  } else {
    context.define(result, TRY(rescaled(context, codes, own, scale, result)));
  }
  return Done{};
}

/// A QuantizeLinear, where codes end to be held.
Status endToHold(Context& context, const Node& node, const Held& held) {
  TRY(context.flushFor(node.inputs));
  const ValueId result = node.outputs[0];
  const CodeScale own = *codeScaleOf(context, node), scale = held.scales.at(node.input(0));
  const Ref codes = TRY(context.ref(node.input(0)));
  context.define(result, TRY(rescaled(context, codes, scale, own, result)));
  return Done{};
}

/// Adds the units of one QuantizeLinear and of the values that are held before it.
void addUnits(const Context& context, const Node& quantize, const std::vector<ValueId>& values,
              const std::shared_ptr<Held>& held, Units& units) {
  units.add(quantize.id, [&quantize, held](Context& at) { return endToHold(at, quantize, *held); });
  for (const ValueId value : values) {
    const Node& node = context.node(*producer(context, value));
    if (node.is("DequantizeLinear")) {
      units.add(node.id, [&node, held](Context& at) { return beginToHold(at, node, *held); });
    } else if (node.is("Concat")) {
      units.add(node.id, [&node, held](Context& at) -> Status {
        TRY(at.flushFor(node.inputs));
        return emitConcat(at, node, held->tables);
      });
    }
  }
}

void claimHeldCodes(Context& context, Units& units) {
  const auto held = std::make_shared<Held>();
  for (const NodeId id : context.fused().nodes) {
    const Node& quantize = context.node(id);
    const auto made = quantize.is("QuantizeLinear") ? producer(context, quantize.input(0)) : std::nullopt;
    if (!made || !picks(context.node(*made))) continue;
    const auto codes = codeScaleOf(context, quantize);
    std::vector<ValueId> values;
    if (!codes || !(context.constantNumber(codes->scale) > 0.0f) || !canHoldCodes(context, quantize.input(0), values))
      continue;
    const CodeScale scale = heldScale(context, quantize, values);
    for (const ValueId value : values) {
      held->scales.emplace(value, scale);
      context.holdAs(value, scale.type);
    }
    addUnits(context, quantize, values, held, units);
  }
}

}  // namespace

extern const Emitter kHeldCodesEmitter{.name = "held_codes", .claim = claimHeldCodes};

}  // namespace fusescope::native
