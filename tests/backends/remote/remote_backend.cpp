#include "tests/backends/remote/remote_backend.h"

#include "backends/reference/reference_backend.h"
#include "tests/backends/remote/remote_device.h"

namespace fusescope {
namespace {

/// Code of the host, run by the device's streams on its memory.
class RemoteCode final : public Code {
 public:
  explicit RemoteCode(std::unique_ptr<const Code> code) : m_code(std::move(code)) {}
  std::size_t workspaceBytes() const override { return m_code->workspaceBytes(); }
  std::span<const Packing> packings() const override { return m_code->packings(); }
  std::span<const std::size_t> embedded() const override { return m_code->embedded(); }

  Status run(Stream& stream, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::span<const std::byte* const> packed, std::byte* workspace) const override {
    std::vector<const std::byte*> in, weights;
    std::vector<std::byte*> out;
    for (const std::byte* input : inputs) in.push_back(TRY(remoteBytes(input)));
    for (std::byte* output : outputs) out.push_back(TRY(remoteBytes(output)));
    for (const std::byte* weight : packed) weights.push_back(TRY(remoteBytes(weight)));
    std::byte* scratch = TRY(remoteBytes(workspace));
    enqueueRemote(stream, [this, in = std::move(in), out = std::move(out), weights = std::move(weights), scratch] {
      return m_code->run(hostStream(), in, out, weights, scratch);
    });
    return Done{};
  }

 private:
  std::unique_ptr<const Code> m_code;
};

Result<std::unique_ptr<const Code>> remote(Result<std::unique_ptr<const Code>> code) {
  return std::unique_ptr<const Code>(std::make_unique<const RemoteCode>(TRY(std::move(code))));
}

class RemoteBackend final : public Backend {
 public:
  std::string_view name() const override { return "remote"; }
  Fingerprint fingerprint() const override { return hostFingerprint(); }
  const Device& device() const override { return remoteDevice(); }
  std::vector<Tactic> tactics(const KernelRequest& request) const override {
    std::vector<Tactic> tactics = referenceBackend().tactics(request);
    for (Tactic& tactic : tactics) tactic.name = tactic.backend = name();
    return tactics;
  }
  Result<std::unique_ptr<const Code>> compile(const KernelRequest& request, const Tactic& tactic) const override {
    return remote(referenceBackend().compile(request, tactic));
  }
  Result<std::unique_ptr<const Code>> compileConversion(const TensorDesc& from, const TensorDesc& to,
                                                        int threads) const override {
    return remote(referenceBackend().compileConversion(from, to, threads));
  }
};

}  // namespace

const Backend& remoteBackend() {
  static const RemoteBackend backend;
  return backend;
}

}  // namespace fusescope
