#include <algorithm>

#include "analysis/users.h"
#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

constexpr int kLongestPrologue = 3;

/// Returns the scale or mask directly before a Softmax, if it does not change the extents and has no other reader.
const Node* scaleOrMask(const RegionBuilder& state, ValueId value) {
  const Graph& graph = state.graph();
  const NodeId producer = graph.value(value).producer;
  if (!producer.valid() || !state.fusible(producer) || !state.alone(producer) || !hasSingleUse(graph, value)) {
    return nullptr;
  }
  const Node& node = graph.node(producer);
  const bool scale = (node.is("Mul") || node.is("Div")) && (isScalarConstant(graph, node.input(1)) ||
                                                            (node.is("Mul") && isScalarConstant(graph, node.input(0))));
  return scale || node.is("Add") || node.is("Where") ? &node : nullptr;
}

/// Returns the operand of a scale or mask that has the extents of its result. The next scale or mask may be before it.
ValueId carried(const Graph& graph, const Node& node) {
  for (ValueId operand : node.inputs) {
    if (operand.valid() && !graph.isConstant(operand) && isFloat(graph.value(operand).type.dtype) &&
        sameExtents(graph, operand, node.outputs.front())) {
      return operand;
    }
  }
  return ValueId();
}

//   [Mul|Div scale] ─ [Add|Where mask] ─ Softmax ─ [Where(IsNaN(p), 0, p)]
void fuseOne(RegionBuilder& state, const Node& softmax) {
  const Graph& graph = state.graph();
  std::vector<NodeId> nodes{softmax.id};
  const auto grow = [&](const std::vector<NodeId>& added) {
    std::vector<NodeId> all = nodes;
    all.insert(all.end(), added.begin(), added.end());
    if (!state.tryMerge({.nodes = all, .root = softmax.id, .kind = kinds::kSoftmax, .rules = {"softmax"}})) {
      return false;
    }
    nodes = std::move(all);
    return true;
  };
  const GuardedSoftmax guarded = guardedSoftmax(graph, softmax);
  const std::vector<NodeId> guard(guarded.nodes.begin() + 1, guarded.nodes.end());
  if (!guard.empty() && std::all_of(guard.begin(), guard.end(), [&](NodeId id) { return state.alone(id); })) {
    grow(guard);
  }
  ValueId value = softmax.input(0);
  for (int step = 0; step < kLongestPrologue && value.valid(); ++step) {
    std::vector<NodeId> added;
    value = beforeOwnCasts(state, value, added);
    const Node* above = scaleOrMask(state, value);
    if (above == nullptr) return;
    const ValueId next = carried(graph, *above);
    added.push_back(above->id);
    if (!next.valid() || !grow(added)) return;
    value = next;
  }
}

void fuseSoftmax(RegionBuilder& state) {
  for (const NodeId id : state.scope()) {
    const Node& node = state.graph().node(id);
    const bool isSoftmax = node.is("Softmax") || node.is("LogSoftmax");
    if (isSoftmax && state.fusible(id) && state.alone(id)) fuseOne(state, node);
  }
}

}  // namespace

extern const FusionRule kSoftmaxRule{.name = "softmax", .picture = "softmax(x * scale + mask)", .apply = fuseSoftmax};

}  // namespace fusescope
