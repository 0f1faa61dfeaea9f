#include "backends/native/reference_step.h"

#include <cstring>

#include "ops/run_node.h"

namespace fusescope::native {
namespace {

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

}  // namespace

std::unique_ptr<Step> makeReferenceStep(ReferenceCall call) {
  return std::make_unique<ReferenceStep>(std::move(call));
}

}  // namespace fusescope::native
