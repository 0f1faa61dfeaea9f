#include "analysis/users.h"
#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

/// The arithmetic that both norms share, found from its mean of squares:
///   square(d) ─ ReduceMean ─ Add eps ─ Sqrt ─ [Reciprocal] ─┐
///   d ──────────────────────────────────────────── Div | Mul ─ [Mul weight] ─ [Add bias]
struct NormTail {
  std::vector<NodeId> nodes;
  ValueId centred;  ///< d: x for RMS norm, x - mean(x) for layer norm
  NodeId scaled;    ///< the Div or Mul
};

class NormMatcher {
 public:
  explicit NormMatcher(const Graph& graph) : m_graph(graph) {}

  std::optional<NormTail> match(const Node& mean) const {
    if (!mean.is("ReduceMean") || !reducesLastAxis(m_graph, mean)) return std::nullopt;
    NormTail tail;
    if (!matchSquare(mean.input(0), tail)) return std::nullopt;
    tail.nodes.push_back(mean.id);
    const Node* plusEpsilon = onlyConsumerIf(m_graph, mean.outputs[0], "Add");
    if (plusEpsilon == nullptr) return std::nullopt;
    if (!isScalarConstant(m_graph, otherOperand(*plusEpsilon, mean.outputs[0]))) return std::nullopt;
    const Node* root = onlyConsumerIf(m_graph, plusEpsilon->outputs[0], "Sqrt");
    if (root == nullptr) return std::nullopt;
    tail.nodes.insert(tail.nodes.end(), {plusEpsilon->id, root->id});
    return matchScaling(root->outputs[0], tail) ? std::optional(tail) : std::nullopt;
  }

  /// A weight or bias behind the norm: a constant along the last axis.
  const Node* affine(ValueId value, std::string_view op) const {
    const Node* node = onlyConsumerIf(m_graph, value, op);
    if (node == nullptr) return nullptr;
    const ValueId operand = otherOperand(*node, value);
    if (!operand.valid() || !m_graph.isConstant(operand)) return nullptr;
    if (!m_graph.value(operand).type.shape.ranked || m_graph.value(operand).type.shape.rank() != 1) return nullptr;
    return broadcastsTo(m_graph, operand, value) ? node : nullptr;
  }

 private:
  bool matchSquare(ValueId square, NormTail& tail) const {
    if (!hasSingleUse(m_graph, square)) return false;
    const Node* pow = producerIf(m_graph, square, "Pow");
    if (pow != nullptr && isConstantNumber(m_graph, pow->input(1), 2)) {
      tail.centred = pow->input(0);
      tail.nodes.push_back(pow->id);
      return true;
    }
    const Node* mul = producerIf(m_graph, square, "Mul");
    if (mul == nullptr || mul->input(0) != mul->input(1)) return false;
    tail.centred = mul->input(0);
    tail.nodes.push_back(mul->id);
    return true;
  }

  bool matchScaling(ValueId deviation, NormTail& tail) const {
    if (const Node* div = onlyConsumerIf(m_graph, deviation, "Div")) {
      tail.scaled = div->id;
      tail.nodes.push_back(div->id);
      return div->input(0) == tail.centred && div->input(1) == deviation;
    }
    const Node* reciprocal = onlyConsumerIf(m_graph, deviation, "Reciprocal");
    if (reciprocal == nullptr) return false;
    const Node* mul = onlyConsumerIf(m_graph, reciprocal->outputs[0], "Mul");
    if (mul == nullptr || otherOperand(*mul, reciprocal->outputs[0]) != tail.centred) return false;
    tail.scaled = mul->id;
    tail.nodes.insert(tail.nodes.end(), {reciprocal->id, mul->id});
    return true;
  }

  const Graph& m_graph;
};

/// Merges the core of a norm, then its weight and bias as far as they go along.
void mergeNorm(RegionBuilder& state, const NormMatcher& matcher, std::vector<NodeId> nodes, NodeId scaled, NodeId root,
               std::string_view kind) {
  const auto candidate = [&] { return Candidate{.nodes = nodes, .root = root, .kind = kind, .rules = {kind}}; };
  if (!state.tryMerge(candidate())) return;
  ValueId last = state.graph().node(scaled).outputs[0];
  for (std::string_view op : {"Mul", "Add"}) {
    const Node* affine = matcher.affine(last, op);
    if (affine == nullptr || (op == "Add" && kind == kinds::kRmsNorm)) break;
    nodes.push_back(affine->id);
    if (!state.tryMerge(candidate())) break;
    last = affine->outputs[0];
  }
}

/// The nodes before the squares of a layer norm: d = Sub(x, ReduceMean(x)).
std::vector<NodeId> centring(const Graph& graph, ValueId centred) {
  const Node* sub = producerIf(graph, centred, "Sub");
  if (sub == nullptr) return {};
  const Node* mean = producerIf(graph, sub->input(1), "ReduceMean");
  if (mean == nullptr || mean->input(0) != sub->input(0) || !reducesLastAxis(graph, *mean)) return {};
  return {mean->id, sub->id};
}

}  // namespace

void fuseLayerNorm(RegionBuilder& state) {
  const NormMatcher matcher(state.graph());
  for (const NodeId id : state.scope()) {
    if (!state.fusible(id)) continue;
    const auto tail = matcher.match(state.graph().node(id));
    if (!tail) continue;
    std::vector<NodeId> nodes = centring(state.graph(), tail->centred);
    if (nodes.empty()) continue;
    nodes.insert(nodes.end(), tail->nodes.begin(), tail->nodes.end());
    mergeNorm(state, matcher, std::move(nodes), tail->scaled, id, kinds::kLayerNorm);
  }
}

void fuseRmsNorm(RegionBuilder& state) {
  const NormMatcher matcher(state.graph());
  for (const NodeId id : state.scope()) {
    if (!state.fusible(id) || !state.alone(id)) continue;
    const auto tail = matcher.match(state.graph().node(id));
    if (!tail || !centring(state.graph(), tail->centred).empty()) continue;
    mergeNorm(state, matcher, tail->nodes, tail->scaled, id, kinds::kRmsNorm);
  }
}

}  // namespace fusescope
