#include "tests/backends/keeping/keeping_backend.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "backends/reference/reference_backend.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

std::string& version() {
  static std::string text = "1";
  return text;
}

class Elementwise final : public Code {
 public:
  Elementwise(std::string op, std::int64_t count) : m_op(std::move(op)), m_count(count) {}
  std::optional<std::string> serialise() const override { return m_op + " " + std::to_string(m_count); }
  Status run(Stream&, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::span<const std::byte* const>, std::byte*) const override {
    const auto* x = reinterpret_cast<const float*>(inputs[0]);
    auto* y = reinterpret_cast<float*>(outputs[0]);
    for (std::int64_t i = 0; i < m_count; ++i) y[i] = m_op == "Relu" ? std::max(x[i], 0.0F) : -x[i];
    return Done{};
  }

 private:
  std::string m_op;
  std::int64_t m_count;
};

const Node* onlyNode(const KernelRequest& request) {
  if (request.fused->nodes.size() != 1) return nullptr;
  const Node& node = request.plan->graph().node(request.fused->nodes[0]);
  return node.is("Relu") || node.is("Neg") ? &node : nullptr;
}

class KeepingBackend final : public Backend {
 public:
  std::string_view name() const override { return "keeping"; }
  Fingerprint fingerprint() const override { return {.parts = {{"keeping", version()}}}; }
  std::vector<Tactic> tactics(const KernelRequest& request) const override {
    std::vector<Tactic> tactics = referenceBackend().tactics(request);
    if (onlyNode(request) == nullptr) return tactics;
    tactics[0].name = tactics[0].implementation = "keeping:elementwise";
    tactics[0].backend = name();
    return tactics;
  }
  Result<std::unique_ptr<const Code>> compile(const KernelRequest& request, const Tactic& tactic) const override {
    if (tactic.backend != name()) return referenceBackend().compile(request, tactic);
    const std::int64_t count = elementCount(request.values.at(request.fused->inputs[0]).dims).value_or(0);
    return std::unique_ptr<const Code>(std::make_unique<const Elementwise>(onlyNode(request)->op, count));
  }
  Result<std::unique_ptr<const Code>> restore(std::string_view bytes) const override {
    std::istringstream text{std::string(bytes)};
    std::string op;
    std::int64_t count = 0;
    if (!(text >> op >> count)) return Diagnostic{.message = "not code of this backend"};
    return std::unique_ptr<const Code>(std::make_unique<const Elementwise>(op, count));
  }
};

}  // namespace

const Backend& keepingBackend() {
  static const KeepingBackend backend;
  return backend;
}

void setKeepingVersion(std::string text) {
  version() = std::move(text);
}

}  // namespace fusescope
