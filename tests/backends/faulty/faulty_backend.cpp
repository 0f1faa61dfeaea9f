#include "tests/backends/faulty/faulty_backend.h"

#include <algorithm>
#include <utility>

#include "backends/reference/reference_backend.h"
#include "tests/backends/changed_code.h"

namespace fusescope {
namespace {

struct Fault {
  std::string op;
  float above = 0;
  bool leavesRoundingOut = false;
};

Fault& fault() {
  static Fault planted;
  return planted;
}

/// What the reference gives, the first float of the first output off by one if it is above the fault's bound.
class OffByOne final : public ChangedCode {
 public:
  using ChangedCode::ChangedCode;

 private:
  void change(std::span<std::byte* const> outputs) const override {
    float& first = *reinterpret_cast<float*>(outputs[0]);
    if (first > fault().above) first += 1;
  }
};

bool isWrongFor(const KernelRequest& request) {
  const Graph& graph = request.plan->graph();
  return std::ranges::any_of(request.fused->nodes, [&](NodeId node) { return graph.node(node).op == fault().op; });
}

/// The region without the roundings inside.
Result<std::unique_ptr<const Code>> compileUnrounded(const KernelRequest& request) {
  FusedNode fused = *request.fused;
  for (InnerEdge& edge : fused.innerEdges)
    if (!edge.real && isFloat(edge.type)) edge.type = DataType::F32;
  KernelRequest changed = request;
  changed.fused = &fused;
  return referenceBackend().compile(changed, referenceBackend().tactics(changed).front());
}

class FaultyBackend final : public Backend {
 public:
  std::string_view name() const override { return "faulty"; }
  Fingerprint fingerprint() const override { return {.parts = {{"faulty", "1"}}}; }
  std::vector<Tactic> tactics(const KernelRequest& request) const override {
    std::vector<Tactic> tactics;
    for (const char* way : {"faulty:right", "faulty:wrong"}) {
      tactics.push_back(referenceBackend().tactics(request).front());
      tactics.back().name = tactics.back().implementation = way;
      tactics.back().backend = name();
    }
    return tactics;
  }
  Result<std::unique_ptr<const Code>> compile(const KernelRequest& request, const Tactic& tactic) const override {
    if (tactic.implementation == "faulty:wrong" && fault().leavesRoundingOut) return compileUnrounded(request);
    auto code = TRY(referenceBackend().compile(request, referenceBackend().tactics(request).front()));
    if (tactic.implementation != "faulty:wrong" || !isWrongFor(request)) return code;
    return std::unique_ptr<const Code>(std::make_unique<const OffByOne>(std::move(code)));
  }
};

}  // namespace

const Backend& faultyBackend() {
  static const FaultyBackend backend;
  return backend;
}

void setFaultyOperator(std::string op, float above) {
  fault() = {std::move(op), above, fault().leavesRoundingOut};
}

void setUnrounded(bool leavesOut) {
  fault().leavesRoundingOut = leavesOut;
}

}  // namespace fusescope
