#include "tests/backends/faulty/faulty_backend.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/reference/reference_backend.h"
#include "ir/graph.h"
#include "tests/backends/changed_code.h"

namespace fusescope {
namespace {

struct Fault {
  std::string op;
  OutputFault change;
  bool leavesRoundingOut = false, leavesLastNodeOut = false;
  std::string uncompilable;  ///< an operator
  bool byNeither = false;
};

Fault& fault() {
  static Fault planted;
  return planted;
}

/// What the reference gives, its first output changed by the fault.
class ChangedOutput final : public ChangedCode {
 public:
  ChangedOutput(std::unique_ptr<const Code> code, TensorDesc desc)
      : ChangedCode(std::move(code)), m_desc(std::move(desc)) {}

 private:
  void change(std::span<std::byte* const> outputs) const override {
    const Tensor right = Tensor::view(m_desc.dtype, m_desc.dims, nullptr, outputs[0]);
    Tensor numbers = Tensor::zeros(DataType::F32, m_desc.dims);
    for (std::int64_t i = 0; i < right.count(); ++i)
      numbers.mutableData<float>()[static_cast<std::size_t>(i)] = static_cast<float>(right.asDouble(i));
    fault().change(numbers.mutableData<float>(), m_desc.dims);
    const Tensor wrong = numbers.converted(m_desc.dtype);
    std::memcpy(outputs[0], wrong.bytes(), wrong.byteSize());
  }

  TensorDesc m_desc;
};

bool holds(const KernelRequest& request, const std::string& op) {
  const Graph& graph = request.plan->graph();
  return std::ranges::any_of(request.fused->nodes, [&](NodeId node) { return graph.node(node).op == op; });
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

/// The region without its last node, whose first operand is left in place of its result.
Result<std::unique_ptr<const Code>> compileUnfinished(const KernelRequest& request) {
  FusedNode fused = *request.fused;
  const Node& last = request.plan->graph().node(fused.nodes.back());
  fused.nodes.pop_back();
  fused.outputs.front().value = last.input(0);
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
    if (holds(request, fault().uncompilable) && (fault().byNeither || tactic.implementation == "faulty:right"))
      return Diagnostic{.message = "its code generator gave up", .where = {.node = request.fused->name}};
    if (tactic.implementation == "faulty:wrong" && fault().leavesRoundingOut) return compileUnrounded(request);
    if (tactic.implementation == "faulty:wrong" && fault().leavesLastNodeOut && request.fused->nodes.size() > 1)
      return compileUnfinished(request);
    auto code = TRY(referenceBackend().compile(request, referenceBackend().tactics(request).front()));
    if (tactic.implementation != "faulty:wrong" || fault().change == nullptr || !holds(request, fault().op))
      return code;
    const TensorDesc& desc = request.values.at(request.fused->outputs.front().value);
    return std::unique_ptr<const Code>(std::make_unique<const ChangedOutput>(std::move(code), desc));
  }
};

}  // namespace

const Backend& faultyBackend() {
  static const FaultyBackend backend;
  return backend;
}

void setFault(std::string op, OutputFault change) {
  fault().op = std::move(op);
  fault().change = std::move(change);
}

void setFaultyOperator(std::string op, float above) {
  if (op.empty()) return setFault({}, nullptr);
  setFault(std::move(op), [above](std::span<float> elements, const Dims&) {
    if (elements.front() > above) elements.front() += 1;
  });
}

void setUncompilable(std::string op, bool byNeither) {
  fault().uncompilable = std::move(op);
  fault().byNeither = byNeither;
}

void setUnrounded(bool leavesOut) {
  fault().leavesRoundingOut = leavesOut;
}

void setUnfinished(bool leavesOut) {
  fault().leavesLastNodeOut = leavesOut;
}

}  // namespace fusescope
