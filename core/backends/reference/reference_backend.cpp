#include "backends/reference/reference_backend.h"

#include <cstring>
#include <memory>

#include "backends/backend.h"
#include "backends/reference/convert_elements.h"
#include "backends/reference/reference_nodes.h"
#include "base/text.h"

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

/// Compiles code that runs `request.fused` node by node; see referenceBackend(). Errors: an operator without a
/// reference kernel, a constant without data.
Result<std::unique_ptr<const Code>> compileReference(const KernelRequest& request) {
  auto nodes = TRY(ReferenceNodes::prepare(request));
  return std::unique_ptr<const Code>(std::make_unique<const ReferenceKernel>(request, std::move(nodes)));
}

constexpr std::string_view kTactic = "reference";

/// A conversion that changes the type of a plain tensor.
class TypeConversion final : public Code {
 public:
  TypeConversion(DataType from, DataType to, std::int64_t count) : m_from(from), m_to(to), m_count(count) {}
  Status run(Stream&, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::span<const std::byte* const>, std::byte*) const override {
    convertElements(m_from, inputs[0], m_to, outputs[0], m_count);
    return Done{};
  }

 private:
  DataType m_from, m_to;
  std::int64_t m_count;
};

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return kReferenceBackend; }
  Fingerprint fingerprint() const override { return hostFingerprint(); }

  std::vector<Tactic> tactics(const KernelRequest& request) const override {
    return {{.name = std::string(kTactic),
             .backend = std::string(name()),
             .implementation = std::string(kTactic),
             .inputs = std::vector<MemoryFormat>(request.fused->inputs.size()),
             .outputs = std::vector<MemoryFormat>(request.fused->outputs.size()),
             .numerics = {.emulated = isEmulated(*request.plan, *request.fused)}}};
  }

  Result<std::unique_ptr<const Code>> compile(const KernelRequest& request, const Tactic& tactic) const override {
    if (tactic.implementation != kTactic)
      return Diagnostic{.message = "the reference backend has no tactic '" + tactic.name + "'",
                        .where = {.node = request.fused->name},
                        .help = "Its only tactic is 'reference'."};
    return compileReference(request);
  }

  Result<std::unique_ptr<const Code>> compileConversion(const TensorDesc& from, const TensorDesc& to,
                                                        int) const override {
    if (!from.format.isPlain() || !to.format.isPlain())
      return Diagnostic{.message = "the reference backend only supports plain tensors, so it cannot convert " +
                                   from.format.text() + " to " + to.format.text()};
    if (elementCount(from.dims) != elementCount(to.dims))
      return Diagnostic{.message =
                            "a conversion cannot change extents from " + toText(from.dims) + " to " + toText(to.dims)};
    return std::unique_ptr<const Code>(
        std::make_unique<const TypeConversion>(from.dtype, to.dtype, elementCount(from.dims).value_or(0)));
  }

  bool emulatesConversion(const TensorDesc& from, const TensorDesc& to) const override {
    const auto isNarrow = [](DataType type) { return isFloat(type) && bitWidth(type) <= 16; };
    return from.dtype != to.dtype && (isNarrow(from.dtype) || isNarrow(to.dtype));
  }
};

}  // namespace

const Backend& referenceBackend() {
  static const ReferenceBackend backend;
  return backend;
}

}  // namespace fusescope
