#include "backends/native/emit_reference.h"

#include "backends/native/reference_step.h"
#include "ops/op_schema.h"

namespace fusescope::native {

Status emitReference(Context& context, const Node& node) {
  ReferenceCall call{.node = node, .inputs = {}, .outputs = {}};
  std::vector<BufferIndex> reads, writes;
  for (ValueId input : operands(node)) {
    if (!input.valid()) {
      call.inputs.push_back(std::nullopt);
      continue;
    }
    const Ref source = TRY(context.plain(TRY(context.ref(input))));
    reads.push_back(source.buffer);
    call.inputs.push_back(source);
  }
  for (ValueId output : node.outputs) {
    if (!output.valid() || !context.request().values.contains(output)) {
      call.outputs.push_back(std::nullopt);
      continue;
    }
    const Ref target = context.allocate(output);
    context.define(output, target);
    writes.push_back(target.buffer);
    call.outputs.push_back(target);
  }
  context.chose({.by = Choice::By::Reference, .implementation = node.op});
  context.program().addStep(makeReferenceStep(std::move(call)), reads, writes);
  return Done{};
}

}  // namespace fusescope::native
