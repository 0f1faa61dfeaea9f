#include "backends/native/lowering/emitter.h"
#include "backends/native/steps/integer_step.h"

// Integer arithmetic and selections that do not run in tapes.
namespace fusescope::native {
namespace {

constexpr KernelKind kIntegerKernel{.name = "integer"};

Result<bool> emitInteger(Context& context, const Node& node) {
  std::vector<DataType> types;
  for (const ValueId input : node.inputs) {
    if (!input.valid()) return false;
    types.push_back(context.typeOf(input));
  }
  if (!hasIntegerStep(node, types)) return false;
  std::vector<Ref> operands;
  std::vector<BufferIndex> reads;
  for (const ValueId input : node.inputs) {
    operands.push_back(TRY(context.plain(TRY(context.ref(input)))));
    reads.push_back(operands.back().buffer);
  }
  const Ref target = context.allocate(node.outputs[0]);
  context.define(node.outputs[0], target);
  context.chose({.kind = kIntegerKernel});
  context.program().addStep(makeIntegerStep(node, operands, target), reads, {target.buffer});
  return true;
}

}  // namespace

extern const Emitter kIntegerEmitter{.name = "integer", .emit = emitInteger};

}  // namespace fusescope::native
