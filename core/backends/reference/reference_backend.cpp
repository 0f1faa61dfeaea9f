#include "backends/reference/reference_backend.h"

#include "backends/reference/convert_elements.h"
#include "backends/reference/reference_kernel.h"
#include "backends/reference/reference_nodes.h"
#include "base/text.h"

namespace fusescope {
namespace {

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
