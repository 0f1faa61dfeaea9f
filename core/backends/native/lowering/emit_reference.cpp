#include "backends/native/lowering/emit_reference.h"

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "backends/native/region_program.h"
#include "ir/graph.h"
#include "ops/op_schema.h"
#include "ops/run_node.h"

namespace fusescope::native {
namespace {

/// One operator with its operands, all row-major. Absent optional inputs and outputs that are not needed are empty.
struct ReferenceCall {
  Node node;
  std::vector<std::optional<Ref>> inputs, outputs;
};

class ReferenceStep final : public Step {
 public:
  explicit ReferenceStep(ReferenceCall call) : m_call(std::move(call)) {}

  Status run(Memory memory, std::byte*) const override {
    std::vector<Tensor> inputs(m_call.inputs.size());
    std::vector<const Tensor*> pointers(m_call.inputs.size(), nullptr);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!m_call.inputs[i]) continue;
      const Ref& ref = *m_call.inputs[i];
      inputs[i] = Tensor::view(ref.dtype, ref.dims, nullptr, bytesAt(ref, memory));
      pointers[i] = &inputs[i];
    }
    const std::vector<Tensor> results = TRY(runNode(m_call.node, pointers));
    for (std::size_t i = 0; i < m_call.outputs.size() && i < results.size(); ++i) {
      if (!m_call.outputs[i]) continue;
      const Ref& ref = *m_call.outputs[i];
      const Tensor result = results[i].type() == ref.dtype ? results[i] : results[i].converted(ref.dtype);
      if (result.dims() != ref.dims) {
        return Diagnostic{
            .message = "its result has extents " + toText(result.dims()) + ", but the plan expects " + toText(ref.dims),
            .where = {.node = m_call.node.name},
            .help = "The extents depend on values, which differ from those for which the plan was made."};
      }
      if (result.byteSize() > 0) std::memcpy(bytesAt(ref, memory), result.bytes(), result.byteSize());
    }
    return Done{};
  }

 private:
  ReferenceCall m_call;
};

/// Runs an operator with its reference kernel, for operators without a kernel of ours. It allocates memory while it
/// runs.
std::unique_ptr<Step> makeReferenceStep(ReferenceCall call) {
  return std::make_unique<ReferenceStep>(std::move(call));
}

}  // namespace

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
