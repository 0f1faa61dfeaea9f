#include "tests/backends/clamping/clamping_backend.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "backends/reference/reference_backend.h"
#include "tests/backends/changed_code.h"

namespace fusescope {
namespace {

std::atomic<bool> hasExactWays = true;

/// What the reference gives, clamped.
class Clamped final : public ChangedCode {
 public:
  Clamped(std::unique_ptr<const Code> code, std::int64_t count) : ChangedCode(std::move(code)), m_count(count) {}

 private:
  void change(std::span<std::byte* const> outputs) const override {
    auto* sums = reinterpret_cast<std::int32_t*>(outputs[0]);
    using Narrow = std::numeric_limits<std::int16_t>;
    for (std::int64_t i = 0; i < m_count; ++i)
      sums[i] = std::clamp<std::int32_t>(sums[i], Narrow::min(), Narrow::max());
  }

  std::int64_t m_count;
};

class ClampingBackend final : public Backend {
 public:
  std::string_view name() const override { return "clamping"; }
  Fingerprint fingerprint() const override { return {.parts = {{"clamping", "1"}}}; }
  std::vector<Tactic> tactics(const KernelRequest& request) const override {
    const Tactic reference = referenceBackend().tactics(request).front();
    std::vector<Tactic> tactics;
    const auto add = [&](const char* way, Numerics numerics) {
      tactics.push_back(reference);
      tactics.back().name = tactics.back().implementation = way;
      tactics.back().backend = name();
      tactics.back().numerics = numerics;
    };
    add("clamping:saturating", {.saturates = true});
    add("clamping:flushing", {.flushes = true});
    if (!hasExactWays) return tactics;
    add("clamping:exact", {});
    tactics.push_back(reference);
    return tactics;
  }
  Result<std::unique_ptr<const Code>> compile(const KernelRequest& request, const Tactic& tactic) const override {
    auto code = TRY(referenceBackend().compile(request, referenceBackend().tactics(request).front()));
    const TensorDesc& result = request.values.at(request.fused->outputs.front().value);
    if (tactic.implementation != "clamping:saturating" || result.dtype != DataType::I32) return code;
    return std::unique_ptr<const Code>(
        std::make_unique<const Clamped>(std::move(code), elementCount(result.dims).value_or(0)));
  }
};

}  // namespace

const Backend& clampingBackend() {
  static const ClampingBackend backend;
  return backend;
}

void offerExactWays(bool offered) {
  hasExactWays = offered;
}

}  // namespace fusescope
