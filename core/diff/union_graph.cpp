#include "diff/union_graph.h"

#include <algorithm>
#include <utility>

#include "ir/graph.h"

namespace fusescope {

namespace {

template <class Id>
std::vector<Id> ownIds(std::size_t limit) {
  std::vector<Id> ids(limit);
  for (std::size_t i = 0; i < limit; ++i) ids[i] = Id(static_cast<std::uint32_t>(i));
  return ids;
}

/// Adds what only B has to a copy of A's graph.
class UnionGraph {
 public:
  UnionGraph(const PlanLevel& level, UnionLevel& into)
      : m_level(level), m_a(level.a->graph()), m_b(level.b->graph()), m_into(into), m_editor(m_a) {}

  Result<std::shared_ptr<const Model>> make() {
    auto model = std::make_shared<Model>(*m_level.a->model);
    m_origins = &model->origins;
    m_into.nodeOfB = m_level.match.nodeOfA;
    m_into.valueOfB = m_level.match.valueOfA;
    for (const ValueId input : m_b.inputs())
      if (!known(input)) m_into.valueOfB[input.index] = m_editor.addInput(m_b.value(input).name, m_b.value(input).type);
    takeOutputsOfMatched();
    for (const NodeId node : m_level.match.onlyB) addValuesOf(m_b.node(node));
    for (const NodeId node : m_level.match.onlyB) addNode(m_b.node(node));
    for (const ValueId output : m_b.outputs())
      if (known(output) && !m_editor.current().isOutput(valueOf(output))) m_editor.addOutput(valueOf(output));
    GraphEditor without = m_editor;
    addEdgesOfB();
    auto graph = m_editor.publish();
    model->graph = graph.ok() ? std::move(graph).value() : TRY(without.publish());
    return std::shared_ptr<const Model>(std::move(model));
  }

 private:
  ValueId valueOf(ValueId ofB) const { return m_into.valueOfB[ofB.index]; }
  bool known(ValueId ofB) const { return valueOf(ofB).valid(); }

  /// An output of a matched node is the output of its counterpart at the same place.
  void takeOutputsOfMatched() {
    for (const NodeId node : m_b.order()) {
      const NodeId inA = m_level.match.nodeOfA[node.index];
      if (!inA.valid()) continue;
      const std::vector<ValueId>& ofA = m_a.node(inA).outputs;
      const std::vector<ValueId>& ofB = m_b.node(node).outputs;
      for (std::size_t i = 0; i < std::min(ofA.size(), ofB.size()); ++i)
        if (ofB[i].valid() && !known(ofB[i])) m_into.valueOfB[ofB[i].index] = ofA[i];
    }
  }

  /// The outputs of a node that only B has are new values.
  void addValuesOf(const Node& node) {
    for (const ValueId output : node.outputs)
      if (output.valid())
        m_into.valueOfB[output.index] = m_editor.addValue(m_b.value(output).name, m_b.value(output).type);
  }

  /// Returns the value of the union that is B's value `ofB`, which may be a constant.
  ValueId read(ValueId ofB) {
    if (!ofB.valid() || known(ofB)) return ofB.valid() ? valueOf(ofB) : ofB;
    const Value& value = m_b.value(ofB);
    if (value.constant == nullptr) return {};
    return m_into.valueOfB[ofB.index] = m_editor.addConstant(value.name, *value.constant);
  }

  void addNode(Node node) {
    const NodeId ofB = node.id;
    for (ValueId& input : node.inputs) input = read(input);
    for (ValueId& output : node.outputs)
      if (output.valid()) output = valueOf(output);
    for (auto& [name, attribute] : node.attributes)
      if (auto* body = std::get_if<Subgraph>(&attribute))
        for (ValueId& capture : body->captures) capture = read(capture);
    for (OriginId& origin : node.origins) {
      m_origins->push_back(m_level.b->model->origins[origin.index]);
      origin = OriginId(static_cast<std::uint32_t>(m_origins->size() - 1));
    }
    m_into.nodeOfB[ofB.index] = m_editor.addNode(std::move(node));
  }

  /// Adds inputs that matched nodes have only in B. Nodes with bodies are not changed, because they identify their
  /// operands by position.
  void addEdgesOfB() {
    for (const NodeId node : m_b.order()) {
      const NodeId inA = m_level.match.nodeOfA[node.index];
      if (!inA.valid() || hasBody(m_b.node(node))) continue;
      for (const ValueId input : m_b.node(node).inputs) {
        if (!input.valid() || m_b.isConstant(input) || !known(input)) continue;
        std::vector<ValueId>& inputs = m_editor.mutableNode(inA).inputs;
        if (std::ranges::find(inputs, valueOf(input)) == inputs.end()) inputs.push_back(valueOf(input));
      }
    }
  }

  const PlanLevel& m_level;
  const Graph& m_a;
  const Graph& m_b;
  UnionLevel& m_into;
  GraphEditor m_editor;
  std::vector<Origin>* m_origins = nullptr;
};

/// Returns whether B's nodes are those of A, and its matched nodes have the same inputs and outputs.
bool isGraphOfA(const PlanLevel& level) {
  const Graph& a = level.a->graph();
  const Graph& b = level.b->graph();
  if (&a == &b) return true;
  if (!level.match.onlyB.empty()) return false;
  const auto same = [&](const std::vector<ValueId>& ofA, const std::vector<ValueId>& ofB) {
    return std::ranges::all_of(ofB, [&](ValueId value) {
      if (!value.valid() || b.isConstant(value)) return true;
      return std::ranges::find(ofA, level.match.valueOfA[value.index]) != ofA.end();
    });
  };
  return same(a.inputs(), b.inputs()) && same(a.outputs(), b.outputs()) &&
         std::ranges::all_of(b.order(), [&](NodeId node) {
           const Node& ofA = a.node(level.match.nodeOfA[node.index]);
           return same(ofA.inputs, b.node(node).inputs) && same(ofA.outputs, b.node(node).outputs);
         });
}

}  // namespace

Result<std::shared_ptr<const Model>> unionModel(const PlanLevel& level, UnionLevel& into) {
  if (level.a != nullptr) {
    into.nodeOfA = ownIds<NodeId>(level.a->graph().nodeIdLimit());
    into.valueOfA = ownIds<ValueId>(level.a->graph().valueIdLimit());
  } else {
    into.nodeOfB = ownIds<NodeId>(level.b->graph().nodeIdLimit());
    into.valueOfB = ownIds<ValueId>(level.b->graph().valueIdLimit());
    return level.b->model;
  }
  if (level.b == nullptr) return level.a->model;
  if (!isGraphOfA(level)) return UnionGraph(level, into).make();
  into.nodeOfB = level.match.nodeOfA;
  into.valueOfB = level.match.valueOfA;
  return level.a->model;
}

}  // namespace fusescope
