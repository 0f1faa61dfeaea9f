#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "passes/contradictions.h"
#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

/// Returns whether all extents are equal, each known or named.
bool provablyEqual(const TensorType& a, const TensorType& b) {
  if (a.dtype == DataType::Undefined || !a.shape.ranked || a != b) return false;
  return std::ranges::all_of(a.shape.dims, [](const Dim& dim) { return dim.known() || !dim.symbol.empty(); });
}

bool allAre(const Tensor* tensor, std::int64_t wanted) {
  if (tensor == nullptr) return false;
  const std::vector<std::int64_t> values = int64Values(*tensor);
  return std::ranges::all_of(values, [&](std::int64_t value) { return value == wanted; });
}

/// Returns whether all elements are 0 (+0 for floats), so that they can be subtracted from any number without changing
/// it.
bool isZero(const Tensor* tensor) {
  if (tensor == nullptr || tensor->type() == DataType::String || tensor->count() != 1) return false;
  const double number = tensor->asDouble(0);
  return number == 0 && !std::signbit(number);
}

/// Operators whose result is their first input if both have the same type and extents.
constexpr std::array kSameIfSameExtents{"Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand"};
/// Operators with any number of inputs that return a single input unchanged.
constexpr std::array kSameIfAlone{"Concat", "Sum", "Max", "Min", "Mean"};

bool isNoOp(const Graph& graph, const TypeFlow& flow, const Node& node) {
  if (!node.domain.empty() || node.outputs.size() != 1 || !node.outputs[0].valid() || !node.input(0).valid())
    return false;
  const std::string_view op = node.op;
  if (op == "Transpose") {
    const auto perm = node.intsAttribute("perm");
    for (std::size_t i = 0; i < perm.size(); ++i)
      if (perm[i] != static_cast<std::int64_t>(i)) return false;
    return !perm.empty();
  }
  if (std::ranges::find(kSameIfAlone, op) != kSameIfAlone.end()) return node.inputs.size() == 1;
  if (op == "CastLike") {
    const DataType from = flow.types[node.inputs[0].index].dtype;
    return from != DataType::Undefined && from == flow.types[node.outputs[0].index].dtype;
  }
  if (!provablyEqual(flow.types[node.inputs[0].index], flow.types[node.outputs[0].index])) return false;
  if (std::ranges::find(kSameIfSameExtents, op) != kSameIfSameExtents.end()) return true;
  if (op == "Sub") return isZero(graph.constantData(node.input(1)));
  if (op == "Slice") return !node.input(4).valid() || allAre(graph.constantData(node.input(4)), 1);
  if (op == "Pad") return allAre(graph.constantData(node.input(1)), 0);
  return false;
}

/// Returns whether both are the same constant of one element.
bool sameNumber(const Graph& graph, ValueId a, ValueId b) {
  const Tensor *x = graph.constantData(a), *y = graph.constantData(b);
  return x != nullptr && y != nullptr && x->type() == y->type() && x->count() == 1 && y->count() == 1 &&
         x->asDouble(0) == y->asDouble(0);
}

/// QuantizeLinear(DequantizeLinear(q)) with one and the same scale is q, unless the numbers overflow or become
/// subnormal.
std::optional<ValueId> requantized(const Graph& graph, const Node& node) {
  const NodeId made = node.is("QuantizeLinear") ? graph.value(node.input(0)).producer : NodeId();
  if (!graph.has(made) || !graph.node(made).is("DequantizeLinear")) return std::nullopt;
  const Node& before = graph.node(made);
  constexpr double kLeast = 1e-30, kMost = 1e30;
  const bool same = node.input(2).valid() && before.input(2).valid() && node.intAttribute("precision", 0) == 0 &&
                    sameNumber(graph, node.input(1), before.input(1)) &&
                    sameNumber(graph, node.input(2), before.input(2));
  if (!same) return std::nullopt;
  const DataType type = graph.value(node.input(2)).type.dtype;
  const double scale = graph.constantData(node.input(1))->asDouble(0);
  const bool isExact = isByteInteger(type) && scale > kLeast && scale < kMost;
  return isExact ? std::optional(before.input(0)) : std::nullopt;
}

class RemoveNoOps : public Pass {
 public:
  std::string_view name() const override { return "remove_noops"; }

  Result<bool> run(PassContext& context) const override {
    const Graph& graph = context.graph;
    const TypeFlow flow = TRY(flowTypes(graph, inputTypes(graph, context.inputSpecs), {}, context.stop));
    const bool contradicted = settleContradictions(context, flow);
    Replacements replacements;
    for (const NodeId id : graph.order()) {
      Node node = graph.node(id);
      if (const auto codes = requantized(graph, node)) {
        node.inputs[0] = *codes;
      } else if (!isNoOp(graph, flow, node)) {
        continue;
      }
      const std::string type = flow.types[node.inputs[0].index].text();
      if (!bypass(context, node, replacements)) continue;
      context.ledger.retire(node, "normalise.noop_removed", name(), {{"op", node.op}, {"type", type}});
    }
    applyReplacements(context.editor, replacements);
    return contradicted || !replacements.empty();
  }
};

}  // namespace

std::unique_ptr<Pass> removeNoOps() {
  return std::make_unique<RemoveNoOps>();
}

}  // namespace fusescope
