#include "backends/native/native_backend.h"

#include <hwy/highway.h>

#include <map>

#include "backends/native/kernels/strided_copy.h"
#include "backends/native/native_tactics.h"
#include "backends/native/onednn.h"
#include "backends/native/steps/convert_step.h"
#include "backends/native/steps/format_step.h"
#include "backends/reference/reference_backend.h"

namespace fusescope {
namespace {

using namespace native;

Ref wholeRef(const TensorDesc& desc, BufferIndex buffer) {
  Ref ref{.buffer = buffer, .dtype = desc.dtype, .dims = desc.dims, .format = desc.format};
  if (desc.format.isPlain()) ref.strides = rowMajorStrides(desc.dims);
  return ref;
}

/// The type is changed in the plain format. The format is changed in f32, or in the type of both sides if it is the
/// same.
Result<std::unique_ptr<const Code>> conversion(const TensorDesc& from, const TensorDesc& to, int threads) {
  ProgramBuilder program(1, 1);
  Ref at = wholeRef(from, program.input(0));
  const Ref target = wholeRef(to, program.output(0));
  const auto reorderTo = [&](const Ref& next) -> Status {
    if (canMoveInto(at.dtype, at.format, next.format)) {
      program.addStep(makeFormatStep(at, next, threads), {at.buffer}, {next.buffer});
      at = next;
      return Done{};
    }
    const auto source = dnnlDesc(at.desc());
    const auto sink = dnnlDesc(next.desc());
    if (!source || !sink) {
      return Diagnostic{.message = "a tensor " + toText(at.dims) + " of " + std::string(name(at.dtype)) +
                                   " cannot have the memory format '" +
                                   (at.format.isPlain() ? next.format : at.format).text() + "'"};
    }
    program.addStep(TRY(makeReorder(*source, at.buffer, *sink, next.buffer)), {at.buffer}, {next.buffer});
    at = next;
    return Done{};
  };
  const auto scratch = [&](DataType type) {
    const TensorDesc desc{type, from.dims, MemoryFormat()};
    return wholeRef(desc, program.addScratch(desc.bytes()));
  };
  if (!at.format.isPlain() && from.dtype != to.dtype) TRY(reorderTo(scratch(from.dtype)));
  if (from.dtype != to.dtype) {
    const Ref next = to.format.isPlain() ? target : scratch(to.dtype);
    program.addStep(makeConvertStep(at, next, threads), {at.buffer}, {next.buffer});
    at = next;
  }
  if (at.buffer != target.buffer) TRY(reorderTo(target));
  return program.finish();
}

bool isLeftToReference(const TensorDesc& from, const TensorDesc& to) {
  const bool plain = from.format.isPlain() && to.format.isPlain();
  return plain && (from.dtype == to.dtype || !canConvert(from.dtype, to.dtype) || from.dims != to.dims);
}

/// The version of our own kernels. It is increased whenever one of them becomes faster or slower, since measured times
/// are valid for one version.
const std::string kKernelVersion = "9";

/// Returns Highway's version and the vector instructions that our own kernels use on this machine.
std::string highwayText() {
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return std::to_string(HWY_MAJOR) + "." + std::to_string(HWY_MINOR) + "." + std::to_string(HWY_PATCH) + " " +
         hwy::TargetName(usable & -usable);  // the lowest bit is the best
}

std::string isaText(dnnl_cpu_isa_t isa) {
  static const std::map<dnnl_cpu_isa_t, std::string> names = {{dnnl_cpu_isa_sse41, "sse41"},
                                                              {dnnl_cpu_isa_avx, "avx"},
                                                              {dnnl_cpu_isa_avx2, "avx2"},
                                                              {dnnl_cpu_isa_avx2_vnni, "avx2_vnni"},
                                                              {dnnl_cpu_isa_avx512_core, "avx512_core"},
                                                              {dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni"},
                                                              {dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16"},
                                                              {dnnl_cpu_isa_avx512_core_fp16, "avx512_core_fp16"},
                                                              {dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx"}};
  const auto found = names.find(isa);
  return found == names.end() ? std::to_string(static_cast<int>(isa)) : found->second;
}

/// Returns the version of oneDNN and the instructions that it may use here. The environment variables
/// ONEDNN_MAX_CPU_ISA and ONEDNN_DEFAULT_FPMATH_MODE affect it.
std::string dnnlText() {
  const dnnl_version_t& version = *dnnl_version();
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch) +
         ", isa " + isaText(dnnl_get_effective_cpu_isa()) + ", fpmath " +
         std::to_string(static_cast<int>(dnnl::primitive_attr().get_fpmath_mode()));
}

class NativeBackend final : public Backend {
 public:
  std::string_view name() const override { return "native"; }
  Fingerprint fingerprint() const override {
    static const Fingerprint fingerprint = [] {
      Fingerprint all = hostFingerprint();
      all.parts.emplace_back("kernels", "native " + kKernelVersion + ", Highway " + highwayText());
      all.parts.emplace_back("oneDNN", dnnlText());
      return all;
    }();
    return fingerprint;
  }

  std::vector<Tactic> tactics(const KernelRequest& request) const override {
    std::vector<Tactic> all = nativeTactics(request);
    for (Tactic& tactic : referenceBackend().tactics(request)) all.push_back(std::move(tactic));
    return all;
  }

  Result<std::unique_ptr<const Code>> compile(const KernelRequest& request, const Tactic& tactic) const override {
    const bool isReference = tactic.backend == referenceBackend().name();
    return isReference ? referenceBackend().compile(request, tactic) : compileNative(request, tactic);
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
