#include "backends/reference/reference_kernel.h"

#include <cstring>

#include "backends/reference/reference_nodes.h"

namespace fusescope {
namespace {

/// Runs the reference nodes over memory whose extents are known.
class ReferenceKernel final : public Code {
 public:
  ReferenceKernel(const KernelRequest& request, std::shared_ptr<const ReferenceNodes> nodes)
      : m_name(std::make_shared<const std::string>(request.fused->name)), m_nodes(std::move(nodes)) {
    for (const ValueId input : request.fused->inputs) m_inputs.push_back(request.values.at(input));
    for (const FusedOutput& output : request.fused->outputs) m_outputs.push_back(request.values.at(output.value));
  }

  std::span<const Packing> packings() const override { return m_nodes->packings(); }
  std::span<const std::size_t> embedded() const override { return m_nodes->embedded(); }

  /// The nodes can process tensors of any extents.
  std::shared_ptr<const Code> forExtents(const RegionExtents&, const RegionExtents& to) const override {
    auto code = std::make_shared<ReferenceKernel>(*this);
    for (std::size_t i = 0; i < m_inputs.size(); ++i) code->m_inputs[i].dims = to.inputs[i];
    for (std::size_t i = 0; i < m_outputs.size(); ++i) code->m_outputs[i].dims = to.outputs[i];
    return code;
  }

  Status run(Stream&, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::span<const std::byte* const> packed, std::byte*) const override {
    std::vector<Tensor> given;
    for (std::size_t i = 0; i < m_inputs.size(); ++i)
      given.push_back(Tensor::view(m_inputs[i].dtype, m_inputs[i].dims, nullptr, inputs[i]));
    const std::vector<Tensor> results = TRY(m_nodes->run(given, m_nodes->constantsAt(packed)));
    for (std::size_t i = 0; i < m_outputs.size(); ++i) TRY(store(results[i], m_outputs[i], outputs[i]));
    return Done{};
  }

 private:
  Status store(const Tensor& tensor, const TensorDesc& desc, std::byte* bytes) const {
    if (tensor.dims() != desc.dims)
      return Diagnostic{
          .message = "calculated extents " + toText(tensor.dims()) + ", but " + toText(desc.dims) + " were inferred",
          .where = {.node = *m_name}};
    if (tensor.byteSize() > 0) std::memcpy(bytes, tensor.bytes(), tensor.byteSize());
    return Done{};
  }

  std::shared_ptr<const std::string> m_name;
  std::vector<TensorDesc> m_inputs, m_outputs;
  std::shared_ptr<const ReferenceNodes> m_nodes;
};

}  // namespace

Result<std::unique_ptr<const Code>> compileReference(const KernelRequest& request) {
  auto nodes = TRY(ReferenceNodes::prepare(request));
  return std::unique_ptr<const Code>(std::make_unique<const ReferenceKernel>(request, std::move(nodes)));
}

}  // namespace fusescope
