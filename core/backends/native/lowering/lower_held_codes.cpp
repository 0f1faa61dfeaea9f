#include <algorithm>
#include <memory>

#include "backends/native/lowering/code_scales.h"
#include "backends/native/lowering/concat.h"
#include "backends/native/lowering/emitter.h"
#include "backends/native/steps/pointwise_step.h"
#include "planning/kernel_bindings.h"

// Between a DequantizeLinear and a QuantizeLinear, codes that are only selected and moved remain codes. Selecting
// commutes with functions that change each element separately and preserve order, so that a change of scale can come
// first.
namespace fusescope::native {
namespace {

using HeldFloats = std::vector<HeldCodesBinding::Float>;

bool isMadeBy(const Context& context, const HeldCodesBinding::Float& held, std::string_view op) {
  return context.node(held.maker).is(op);
}

/// Returns whether the codes of every DequantizeLinear have a single scale that is greater than 0.
bool canHoldCodes(const Context& context, const HeldFloats& floats) {
  return std::ranges::all_of(floats, [&](const HeldCodesBinding::Float& held) {
    const Node& maker = context.node(held.maker);
    return !maker.is("DequantizeLinear") ||
           (codeScaleOf(context, maker).has_value() && !context.isConstant(maker.input(0)) &&
            context.constantNumber(maker.input(1)) > 0.0f);
  });
}

/// Returns the scale at which codes are held. If nothing is concatenated, the codes that were read are kept until the
/// end, because selecting never produces more elements than it reads. Otherwise they are held at the scale of the
/// result.
CodeScale heldScale(const Context& context, const Node& quantize, const HeldFloats& floats) {
  const Node& begin = context.node(floats.back().maker);
  const bool joins = std::ranges::any_of(
      floats, [&](const HeldCodesBinding::Float& held) { return isMadeBy(context, held, "Concat"); });
  return *codeScaleOf(context, joins ? quantize : begin);
}

/// Returns the tape saturate(round((codes - zero) · scale / new scale) + new zero), whose extents are not set, or
/// nothing if no code would change.
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

/// Converts `codes` to another scale and returns them as `result`.
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

/// The state that the units of a fused node share.
struct HeldCodes {
  std::map<ValueId, CodeScale> scales;  ///< the scale at which each value is held
  CodeTables tables;                    ///< tables by which a Concat translates codes while it copies them
};

/// Lowers a DequantizeLinear, behind which codes are held. If a Concat reads them, it changes their scale while it
/// copies.
Status beginToHold(Context& context, const Node& node, bool isJoined, HeldCodes& held) {
  TRY(context.flushFor(node.inputs));
  const ValueId result = node.outputs[0];
  const CodeScale own = *codeScaleOf(context, node), scale = held.scales.at(result);
  Ref codes = TRY(context.ref(node.input(0)));
  if (isJoined) {
    if (const auto program = rescaling(context, own, scale)) held.tables.emplace(result, *codeTableOf(*program));
    codes.dtype = scale.type;
    context.define(result, codes);
  } else {
    context.define(result, TRY(rescaled(context, codes, own, scale, result)));
  }
  return Done{};
}

/// Lowers a QuantizeLinear, behind which codes are no longer held.
Status endToHold(Context& context, const Node& node, const HeldCodes& held) {
  TRY(context.flushFor(node.inputs));
  const ValueId result = node.outputs[0];
  const CodeScale own = *codeScaleOf(context, node), scale = held.scales.at(node.input(0));
  const Ref codes = TRY(context.ref(node.input(0)));
  context.define(result, TRY(rescaled(context, codes, scale, own, result)));
  return Done{};
}

/// Adds the units of one QuantizeLinear and of the values before it that are floats in the network and codes here.
void addUnits(const Context& context, const HeldCodesBinding& bound, const std::shared_ptr<HeldCodes>& held,
              Units& units) {
  const Node& quantize = context.node(bound.quantize);
  units.add(quantize.id, [&quantize, held](Context& at) { return endToHold(at, quantize, *held); });
  for (const HeldCodesBinding::Float& each : bound.floats) {
    const Node& node = context.node(each.maker);
    if (node.is("DequantizeLinear")) {
      const bool isJoined = context.node(each.reader).is("Concat");
      units.add(node.id, [&node, isJoined, held](Context& at) { return beginToHold(at, node, isJoined, *held); });
    } else if (node.is("Concat")) {
      units.add(node.id, [&node, held](Context& at) -> Status {
        TRY(at.flushFor(node.inputs));
        return emitConcat(at, node, held->tables);
      });
    }
  }
}

void claimHeldCodes(Context& context, Units& units) {
  const auto held = std::make_shared<HeldCodes>();
  for (const HeldCodesBinding& bound : kernelBindings(context.fused()).heldCodes) {
    const Node& quantize = context.node(bound.quantize);
    const auto codes = codeScaleOf(context, quantize);
    if (!codes || !(context.constantNumber(codes->scale) > 0.0f) || !canHoldCodes(context, bound.floats)) continue;
    const CodeScale scale = heldScale(context, quantize, bound.floats);
    for (const HeldCodesBinding::Float& each : bound.floats) {
      held->scales.emplace(each.value, scale);
      context.keepAs(each.value, scale.type);
    }
    addUnits(context, bound, held, units);
  }
}

}  // namespace

extern const Emitter kHeldCodesEmitter{.name = "held_codes", .claim = claimHeldCodes};

}  // namespace fusescope::native
