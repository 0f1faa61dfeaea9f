#include "backends/native/lowering/emitter.h"
#include "backends/native/steps/convert_step.h"

namespace fusescope::native {
namespace {

/// Lowers a Cast between floats, which are f32 inside a program: it does nothing unless its result has to be rounded.
Result<bool> passFloats(Context& context, const Node& node) {
  if (!context.castsFloats(node) || !context.isDefined(node.input(0))) return false;
  if (context.rounding().rounds(node.outputs[0]) != DataType::Undefined) return false;
  TRY(context.defineSame(node.outputs[0], node.input(0)));
  return true;
}

Result<bool> emitCast(Context& context, const Node& node) {
  if (!node.is("Cast")) return false;
  const DataType to = context.typeOf(node.outputs[0]);
  const DataType from = context.typeOf(node.input(0));
  if (from == DataType::String || to == DataType::String || !canConvert(from, to)) return false;
  const Ref target = context.allocate(node.outputs[0]);
  const Ref source = TRY(context.ref(node.input(0)));
  context.define(node.outputs[0], target);
  TRY(context.convertType(source, target));
  return true;
}

}  // namespace

extern const Emitter kCastEmitter{.name = "cast", .queue = passFloats, .emit = emitCast};

}  // namespace fusescope::native
