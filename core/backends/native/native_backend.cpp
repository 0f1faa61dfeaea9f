#include "backends/native/native_backend.h"

#include "backends/native/convert_step.h"
#include "backends/native/native_tactics.h"
#include "backends/native/onednn.h"
#include "backends/native/strided_copy.h"
#include "backends/reference/reference_backend.h"

namespace fusescope {
namespace {

using namespace native;

Ref wholeRef(const TensorDesc& desc, BufferIndex buffer) {
  Ref ref{.buffer = buffer, .dtype = desc.dtype, .dims = desc.dims, .layout = desc.layout};
  if (desc.layout == Layout::Plain) ref.strides = rowMajorStrides(desc.dims);
  return ref;
}

/// Type changes happen in the plain layout; a layout changes in f32 (or whatever type both sides have).
Result<std::unique_ptr<const Code>> conversion(const TensorDesc& from, const TensorDesc& to, int threads) {
  ProgramBuilder program(1, 1);
  Ref at = wholeRef(from, program.input(0));
  const Ref target = wholeRef(to, program.output(0));
  const auto reorderTo = [&](const Ref& next) -> Status {
    const auto source = dnnlDesc(at.desc());
    const auto sink = dnnlDesc(next.desc());
    if (!source || !sink) {
      return Diagnostic{.message = "a tensor " + toText(at.dims) + " of " + std::string(name(at.dtype)) +
                                   " has no layout '" +
                                   std::string(name(at.layout == Layout::Plain ? next.layout : at.layout)) + "'"};
    }
    program.addStep(TRY(makeReorder(*source, at.buffer, *sink, next.buffer)), {at.buffer}, {next.buffer});
    at = next;
    return Done{};
  };
  const auto scratch = [&](DataType type) {
    const TensorDesc desc{type, from.dims, Layout::Plain};
    return wholeRef(desc, program.addScratch(desc.bytes()));
  };
  if (at.layout != Layout::Plain && from.dtype != to.dtype) TRY(reorderTo(scratch(from.dtype)));
  if (from.dtype != to.dtype) {
    const Ref next = to.layout == Layout::Plain ? target : scratch(to.dtype);
    program.addStep(makeConvertStep(at, next, threads), {at.buffer}, {next.buffer});
    at = next;
  }
  if (at.buffer != target.buffer) TRY(reorderTo(target));
  return program.finish();
}

bool isLeftToReference(const TensorDesc& from, const TensorDesc& to) {
  const bool plain = from.layout == Layout::Plain && to.layout == Layout::Plain;
  return plain && (from.dtype == to.dtype || !canConvert(from.dtype, to.dtype) || from.dims != to.dims);
}

/// Of our own kernels: one more whenever one of them becomes faster or slower, since measured times hold for a version.
const std::string kKernelVersion = "5";

class NativeBackend final : public Backend {
 public:
  std::string_view name() const override { return "native"; }
  std::string version() const override {
    const dnnl_version_t& onednn = *dnnl_version();
    return kKernelVersion + " onednn " + std::to_string(onednn.major) + "." + std::to_string(onednn.minor) + "." +
           std::to_string(onednn.patch) + " isa " + std::to_string(static_cast<int>(dnnl_get_effective_cpu_isa()));
  }

  std::vector<Tactic> tactics(const KernelRequest& request) const override {
    std::vector<Tactic> all = nativeTactics(request);
    for (Tactic& tactic : referenceBackend().tactics(request)) all.push_back(std::move(tactic));
    return all;
  }

  Result<std::unique_ptr<const Code>> compile(const KernelRequest& request, const Tactic& tactic) const override {
    return tactic.name == "reference" ? referenceBackend().compile(request, tactic) : compileNative(request, tactic);
  }

  Result<std::unique_ptr<const Code>> compileConversion(const TensorDesc& from, const TensorDesc& to,
                                                        int threads) const override {
    if (isLeftToReference(from, to)) return referenceBackend().compileConversion(from, to, threads);
    return guardDnnl<std::unique_ptr<const Code>>("a conversion", [&] { return conversion(from, to, threads); });
  }

  bool emulatesConversion(const TensorDesc& from, const TensorDesc& to) const override {
    return isLeftToReference(from, to) && referenceBackend().emulatesConversion(from, to);
  }
};

}  // namespace

const Backend& nativeBackend() {
  static const NativeBackend backend;
  return backend;
}

}  // namespace fusescope
