#include <algorithm>

#include "analysis/users.h"
#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

//   q ─[view|transpose|scale]*─┐
//   k ─[view|transpose|scale|expand]*─ MatMul ─[Mul|Div scale]─[Add|Where mask]─ Softmax ─[guard]─┐
//   v ─[view|transpose|expand]*──────────────────────────────────────────────────────────────── MatMul
//   ─[transpose|view]*─
constexpr int kStepsAboveSoftmax = 4;

class AttentionRule {
 public:
  explicit AttentionRule(FusionState& state) : m_state(state), m_graph(state.graph()) {}

  void apply(const Node& softmax) {
    if (!m_state.fusible(softmax.id) || !isLastAxis(m_graph, softmax, softmax.intAttribute("axis", -1))) return;
    std::vector<NodeId> scores;
    if (!findScores(softmax.input(0), kStepsAboveSoftmax, scores)) return;
    const GuardedSoftmax guarded = guardedSoftmax(m_graph, softmax);
    const Node* values = onlyConsumerIf(m_graph, guarded.result, "MatMul");
    if (values == nullptr || values->input(0) != guarded.result) {
      if (consumerIf(m_graph, guarded.result, "MatMul") == nullptr) return;
      return m_state.refuse("fuse.pattern_incomplete", "attention", scores.back(), softmax.id,
                            {{"kind", "attention"}, {"what", "others than one MatMul read the result of Softmax"}});
    }
    m_nodes = scores;
    m_nodes.insert(m_nodes.end(), guarded.nodes.begin(), guarded.nodes.end());
    m_nodes.push_back(values->id);
    m_root = softmax.id;
    if (!m_state.tryMerge(candidate(m_nodes))) return;
    const Node& product = m_graph.node(scores.back());
    absorbAbove(product.input(0));
    absorbAbove(product.input(1));
    absorbAbove(values->input(1));
    absorbBelow(values->outputs.front());
  }

 private:
  Candidate candidate(std::vector<NodeId> nodes) const {
    return {.nodes = std::move(nodes), .root = m_root, .kind = kinds::kAttention, .rules = {"attention"}};
  }

  /// Walks from the operand of Softmax up to the MatMul of q and k; `path` gets the nodes, the MatMul last.
  bool findScores(ValueId value, int steps, std::vector<NodeId>& path) const {
    if (steps == 0 || !value.valid() || !m_graph.value(value).producer.valid()) return false;
    const Node& node = m_graph.node(m_graph.value(value).producer);
    if (node.is("MatMul")) {
      path.push_back(node.id);
      return true;
    }
    path.push_back(node.id);
    for (ValueId operand : scoreOperands(node)) {
      if (sameExtents(m_graph, operand, value) && findScores(operand, steps - 1, path)) return true;
    }
    path.pop_back();
    return false;
  }

  /// Which operands of a node above Softmax can be the scores: scale and mask leave the extents as they are.
  std::vector<ValueId> scoreOperands(const Node& node) const {
    if (node.is("Add")) return {node.input(0), node.input(1)};
    if (node.is("Where")) return {node.input(1), node.input(2)};
    if (node.is("Mul") && isScalarConstant(m_graph, node.input(0))) return {node.input(1)};
    if ((node.is("Mul") || node.is("Div")) && isScalarConstant(m_graph, node.input(1))) return {node.input(0)};
    return {};
  }

  bool isScale(const Node& node) const {
    if (node.is("Mul")) return isScalarConstant(m_graph, node.input(0)) || isScalarConstant(m_graph, node.input(1));
    return node.is("Div") && isScalarConstant(m_graph, node.input(1));
  }

  /// A node before q, k or v that a kernel can do while it reads. Repeating heads is Unsqueeze, Expand, Reshape.
  bool absorbable(const Node& node) const {
    const bool expands = node.is("Expand") && m_graph.isConstant(node.input(1));
    return isView(m_graph, node) || node.is("Transpose") || isScale(node) || expands;
  }

  void absorbAbove(ValueId value) {
    for (;;) {
      const NodeId producer = m_graph.value(value).producer;
      if (!producer.valid() || !m_state.alone(producer)) return;
      const Node& node = m_graph.node(producer);
      if (!absorbable(node) || !hasSingleUse(m_graph, value)) return;
      if (!grow(producer)) return;
      value = isScale(node) && isScalarConstant(m_graph, node.input(0)) ? node.input(1) : node.input(0);
    }
  }

  void absorbBelow(ValueId value) {
    for (;;) {
      const Node* node = onlyConsumer(m_graph, value);
      if (node == nullptr || !m_state.alone(node->id) || node->input(0) != value) return;
      if (!isView(m_graph, *node) && !node->is("Transpose")) return;
      if (!grow(node->id)) return;
      value = node->outputs.front();
    }
  }

  bool grow(NodeId node) {
    std::vector<NodeId> nodes = m_nodes;
    nodes.push_back(node);
    if (!m_state.tryMerge(candidate(nodes))) return false;
    m_nodes = std::move(nodes);
    return true;
  }

  FusionState& m_state;
  const Graph& m_graph;
  std::vector<NodeId> m_nodes;
  NodeId m_root;
};

}  // namespace

GuardedSoftmax guardedSoftmax(const Graph& graph, const Node& softmax) {
  GuardedSoftmax guarded{.nodes = {softmax.id}, .result = softmax.outputs.front()};
  const ValueId probabilities = guarded.result;
  const Node* isNan = consumerIf(graph, probabilities, "IsNaN");
  const Node* where = consumerIf(graph, probabilities, "Where");
  const bool complete = isNan != nullptr && where != nullptr && graph.value(probabilities).consumers.size() == 2 &&
                        where->input(0) == isNan->outputs.front() && where->input(2) == probabilities &&
                        isScalarConstant(graph, where->input(1)) && hasSingleUse(graph, isNan->outputs.front()) &&
                        !graph.isOutput(probabilities);
  if (!complete) return guarded;
  guarded.nodes.insert(guarded.nodes.end(), {isNan->id, where->id});
  guarded.result = where->outputs.front();
  return guarded;
}

void fuseAttention(FusionState& state) {
  for (NodeId id : state.graph().order()) {
    const Node& node = state.graph().node(id);
    if (node.is("Softmax")) AttentionRule(state).apply(node);
  }
}

}  // namespace fusescope
