#include <algorithm>
#include <array>

#include "analysis/users.h"
#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

//   q ─[view|transpose|scale]*─┐
//   k ─[view|transpose|scale|expand]*─ MatMul ─[scale|mask|bias|choice|view]*─ Softmax ─[guard]─[view]*─┐
//   v ─[view|transpose|expand]*───────────────────────────────────────────────────────────────── MatMul
//   ─[transpose|view]*─
// Float Casts may be anywhere. Views between the products do not change the last two axes. A kernel of this kind reads
// q, k and v in one type and keeps scores and probabilities in its accumulate type, except that it narrows the
// probabilities to the type of q, k and v for the second product.
constexpr int kStepsAboveSoftmax = 32;

class AttentionRule {
 public:
  explicit AttentionRule(RegionBuilder& state) : m_state(state), m_graph(state.graph()) {}

  void apply(const Node& softmax) {
    if (!m_state.alone(softmax.id)) return;
    m_root = softmax.id;
    if (!isLastAxis(m_graph, softmax, softmax.intAttribute("axis", -1)))
      return refuse(softmax.name + " does not run along the last axis");
    Bindings terms;
    std::vector<NodeId> path;
    const Node* scores = findScores(softmax.input(0), path, terms);
    if (scores == nullptr) return refuse(m_obstacle);
    std::reverse(terms.begin(), terms.end());
    const GuardedSoftmax guarded = guardedSoftmax(m_graph, softmax);
    const Node* values = secondProduct(guarded.result, path);
    if (values == nullptr) return;
    Candidate candidate = grown(std::move(path));
    candidate.nodes.insert(candidate.nodes.end(), guarded.nodes.begin(), guarded.nodes.end());
    candidate.nodes.insert(candidate.nodes.end(), {scores->id, values->id});
    candidate.oneType = {scores->id, values->id};
    candidate.bindings = bind(*scores, terms, softmax, guarded, *values);
    if (!m_state.tryMerge(candidate)) return;
    const ValueId q = absorbAbove(scores->input(0), roles::kQueryScale);
    const ValueId k = absorbAbove(scores->input(1), roles::kKeyScale);
    const ValueId v = absorbAbove(values->input(1), {});
    for (const ValueId part : {q, k, v}) absorbPart(part);
    absorbBelow(values->outputs.front());
  }

 private:
  Candidate grown(std::vector<NodeId> nodes) const {
    return {.nodes = std::move(nodes), .root = m_root, .kind = kinds::kAttention, .rules = {"attention"}};
  }

  void refuse(const std::string& what) const {
    m_state.refuse("fuse.pattern_incomplete", "attention", m_root, m_root, {{"kind", "attention"}, {"what", what}});
  }

  Bindings bind(const Node& scores, const Bindings& terms, const Node& softmax, const GuardedSoftmax& guarded,
                const Node& values) const {
    Bindings bindings{{roles::kQuery, scores.input(0), {}},
                      {roles::kKey, scores.input(1), {}},
                      {roles::kScores, scores.outputs.front(), scores.id}};
    bindings.insert(bindings.end(), terms.begin(), terms.end());
    bindings.push_back({roles::kSoftmax, softmax.outputs.front(), softmax.id});
    for (std::size_t i = 1; i < guarded.nodes.size(); ++i)
      bindings.push_back({roles::kGuard, m_graph.node(guarded.nodes[i]).outputs.front(), guarded.nodes[i]});
    bindings.push_back({roles::kValues, values.input(1), {}});
    bindings.push_back({roles::kProduct, values.outputs.front(), values.id});
    return bindings;
  }

  /// Walks from the operand of Softmax up to the MatMul of q and k. `path` gets the nodes between them, and `terms`
  /// those that change the scores, the last change first. The obstacle is what ended the first path that was tried.
  const Node* findScores(ValueId value, std::vector<NodeId>& path, Bindings& terms) {
    const NodeId producer = value.valid() ? m_graph.value(value).producer : NodeId();
    if (!producer.valid())
      return endsAt([&] {
        return "its operand is not the result of a MatMul: " + m_graph.value(value).name + " comes from outside";
      });
    const Node& node = m_graph.node(producer);
    if (node.is("MatMul")) return &node;
    const bool passes = carriesOn(node);
    const std::array<ValueId, 2> operands = passes ? std::array{node.input(0), ValueId()} : termOperands(node);
    if (operands == std::array<ValueId, 2>())
      return endsAt([&] {
        return "its operand is not the result of a MatMul: " + node.name + " (" + node.op + ") is in between";
      });
    if (m_steps++ == kStepsAboveSoftmax)
      return endsAt([] { return "its scores were not found within " + std::to_string(kStepsAboveSoftmax) + " nodes"; });
    path.push_back(node.id);
    for (const ValueId operand : operands) {
      if (!operand.valid()) continue;
      if (!passes) terms.push_back({roles::kTerm, operand, node.id});
      if (const Node* scores = findScores(operand, path, terms)) return scores;
      if (!passes) terms.pop_back();
    }
    path.pop_back();
    return nullptr;
  }

  /// `inWords` makes the text if this is the first obstacle.
  template <class InWords>
  const Node* endsAt(InWords inWords) {
    if (m_obstacle.empty()) m_obstacle = inWords();
    return nullptr;
  }

  /// Returns whether the node passes on the matrices of the scores unchanged.
  bool carriesOn(const Node& node) const {
    if (isFloatCast(m_graph, node)) return true;
    if (!isView(m_graph, node)) return false;
    const Shape& from = m_graph.value(node.input(0)).type.shape;
    const Shape& to = m_graph.value(node.outputs.front()).type.shape;
    return from.ranked && to.ranked && from.rank() >= 2 && to.rank() >= 2 &&
           std::equal(from.dims.end() - 2, from.dims.end(), to.dims.end() - 2);
  }

  /// Returns the operands of a term above Softmax that can be the scores; an invalid id for an operand that cannot,
  /// because a term does not change the extents of the scores.
  std::array<ValueId, 2> termOperands(const Node& node) const {
    std::array<ValueId, 2> operands;
    if (node.is("Add") || node.is("Mul")) operands = {node.input(0), node.input(1)};
    if (node.is("Sub") || node.is("Div")) operands = {node.input(0), ValueId()};
    if (node.is("Where")) operands = {node.input(1), node.input(2)};
    for (ValueId& operand : operands)
      if (operand.valid() && (m_graph.isConstant(operand) || !sameExtents(m_graph, operand, node.outputs.front())))
        operand = ValueId();
    return operands;
  }

  /// Returns the MatMul that is the only reader of the probabilities, after Casts and views, which `path` gets.
  const Node* secondProduct(ValueId probabilities, std::vector<NodeId>& path) const {
    const Node* next = onlyConsumer(m_graph, probabilities);
    while (next != nullptr && carriesOn(*next) && next->input(0) == probabilities) {
      path.push_back(next->id);
      probabilities = next->outputs.front();
      next = onlyConsumer(m_graph, probabilities);
    }
    if (next != nullptr && next->is("MatMul") && next->input(0) == probabilities) return next;
    const std::string& name = m_graph.value(probabilities).name;
    if (next == nullptr) {
      refuse("a MatMul is not the only reader of " + name);
    } else {
      refuse("the reader of " + name + " is not a MatMul with it as first operand: " + next->name + " (" + next->op +
             ")");
    }
    return nullptr;
  }

  bool isScale(const Node& node) const {
    if (node.is("Mul")) return isScalarConstant(m_graph, node.input(0)) || isScalarConstant(m_graph, node.input(1));
    return node.is("Div") && isScalarConstant(m_graph, node.input(1));
  }

  /// Returns whether a kernel can do this node before q, k or v while it reads. Heads are repeated by Unsqueeze, Expand
  /// and Reshape.
  bool absorbable(const Node& node) const {
    const bool expands = node.is("Expand") && m_graph.isConstant(node.input(1));
    return isView(m_graph, node) || node.is("Transpose") || isScale(node) || expands || isFloatCast(m_graph, node);
  }

  /// Adds the nodes before an operand that the kernel can do, and returns the value that it then reads. `scaleRole` is
  /// the role of a scale directly before the product; it is empty if no scale is allowed.
  ValueId absorbAbove(ValueId value, std::string_view scaleRole) {
    for (bool first = true;; first = false) {
      const NodeId producer = m_graph.value(value).producer;
      if (!producer.valid() || !m_state.fusible(producer) || !m_state.alone(producer)) return value;
      const Node& node = m_graph.node(producer);
      if (!absorbable(node) || !hasSingleUse(m_graph, value)) return value;
      const ValueId scaled = isScale(node) && isScalarConstant(m_graph, node.input(0)) ? node.input(1) : node.input(0);
      Candidate candidate = grown({m_root, producer});
      if (first && isScale(node) && !scaleRole.empty()) candidate.bindings = {{scaleRole, scaled, producer}};
      if (!m_state.tryMerge(candidate)) return value;
      value = scaled;
    }
  }

  /// Adds the node that makes `value` a part of a larger tensor of q, k and v, if only this kernel reads the part.
  void absorbPart(ValueId value) {
    const NodeId producer = m_graph.value(value).producer;
    if (!producer.valid() || !m_state.fusible(producer) || !m_state.alone(producer)) return;
    const Node& node = m_graph.node(producer);
    if (!isKnownPart(m_graph, node)) return;
    const NodeId reader = onlyReader(m_state, node);
    if (reader.valid() && m_state.together(reader, m_root)) m_state.tryMerge(grown({m_root, producer}));
  }

  void absorbBelow(ValueId value) {
    for (;;) {
      const Node* node = onlyConsumer(m_graph, value);
      if (node == nullptr || !m_state.fusible(node->id) || !m_state.alone(node->id) || node->input(0) != value) return;
      if (!isView(m_graph, *node) && !node->is("Transpose") && !isFloatCast(m_graph, *node)) return;
      if (!m_state.tryMerge(grown({m_root, node->id}))) return;
      value = node->outputs.front();
    }
  }

  RegionBuilder& m_state;
  const Graph& m_graph;
  NodeId m_root;
  std::string m_obstacle;
  int m_steps = 0;  ///< nodes looked at
};

}  // namespace

GuardedSoftmax guardedSoftmax(const Graph& graph, const Node& softmax) {
  GuardedSoftmax guarded{.nodes = {softmax.id}, .result = softmax.outputs.front()};
  std::vector<ValueId> forms{guarded.result};  // the probabilities, and the values that Casts make of them
  std::vector<NodeId> casts, readers;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (graph.isOutput(forms[i])) return guarded;
    for (const NodeId id : graph.value(forms[i]).consumers) {
      const bool cast = isFloatCast(graph, graph.node(id));
      (cast ? casts : readers).push_back(id);
      if (cast) forms.push_back(graph.node(id).outputs.front());
    }
  }
  if (readers.size() != 2) return guarded;
  const auto reader = [&](std::string_view op) {
    return graph.node(readers[0]).is(op) ? &graph.node(readers[0]) : &graph.node(readers[1]);
  };
  const Node *isNan = reader("IsNaN"), *where = reader("Where");
  const bool complete = isNan->is("IsNaN") && where->is("Where") && where->input(0) == isNan->outputs.front() &&
                        std::ranges::find(forms, where->input(2)) != forms.end() &&
                        isScalarConstant(graph, where->input(1)) && hasSingleUse(graph, isNan->outputs.front());
  if (!complete) return guarded;
  guarded.nodes.insert(guarded.nodes.end(), {isNan->id, where->id});
  guarded.nodes.insert(guarded.nodes.end(), casts.begin(), casts.end());
  guarded.result = where->outputs.front();
  return guarded;
}

namespace {

void fuseAttention(RegionBuilder& state) {
  for (const NodeId id : state.scope()) {
    const Node& node = state.graph().node(id);
    if (node.is("Softmax")) AttentionRule(state).apply(node);
  }
}

}  // namespace

extern const FusionRule kAttentionRule{
    .name = "attention", .picture = "softmax(q * k^T * scale + mask) * v", .apply = fuseAttention};

}  // namespace fusescope
