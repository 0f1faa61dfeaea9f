#include "planning/types/typing.h"

#include <algorithm>
#include <set>

#include "analysis/users.h"
#include "planning/fusion/match.h"

namespace fusescope {

bool rounds(const Graph& graph, const Node& node) {
  return isFloatCast(graph, node) && isNarrow(graph.value(node.outputs.front()).type.dtype);
}

DataType narrower(DataType made, DataType wanted) {
  if (wanted == DataType::Undefined) return made;
  if (made == DataType::Undefined) return wanted;
  return bitWidth(made) < bitWidth(wanted) ? made : wanted;
}

DataType widest(DataType a, DataType b) {
  if (a == DataType::Undefined || a == b) return b;
  if (b == DataType::Undefined) return a;
  if (bitWidth(a) == bitWidth(b)) return DataType::F32;
  return bitWidth(a) > bitWidth(b) ? a : b;
}

bool leavesAnotherType(const NodeFacts& producer, DataType declared) {
  return isExchangeable(producer.natural) && isExchangeable(declared) && declared != producer.natural;
}

Typing::Typing(const Graph& graph, const Structure& structure, std::vector<DataType> calculates,
               std::vector<DataType> pinned)
    : m_graph(graph),
      m_structure(structure),
      m_calculates(std::move(calculates)),
      m_pinned(std::move(pinned)),
      m_made(graph.valueIdLimit(), DataType::Undefined),
      m_wanted(graph.valueIdLimit(), DataType::Undefined),
      m_stored(graph.valueIdLimit(), DataType::Undefined) {
  const std::vector<NodeId>& order = graph.order();
  for (const ValueId value : graph.inputs()) m_made[value.index] = findMade(value);
  for (const NodeId id : order)
    for (const ValueId value : graph.node(id).outputs)
      if (value.valid()) m_made[value.index] = findMade(value);
  for (auto id = order.rbegin(); id != order.rend(); ++id)
    for (const ValueId value : graph.node(*id).outputs)
      if (value.valid()) m_wanted[value.index] = findWanted(value);
  for (const ValueId value : graph.inputs()) m_wanted[value.index] = findWanted(value);
  for (const ValueId value : graph.allValues()) m_stored[value.index] = findStored(value);
}

/// Returns the type of the model for a reader in fallback, and the type after truncation for other readers.
DataType Typing::declared(ValueId value, NodeId reader) const {
  return m_structure.accelerated[reader.index] ? m_structure.truncation.types[value.index]
                                               : m_graph.value(value).type.dtype;
}

/// Returns whether the planner chooses its stored type. Bodies write the types that they declare.
bool Typing::isFree(ValueId value) const {
  const NodeId producer = m_graph.value(value).producer;
  return producer.valid() && !hasBody(m_graph.node(producer)) && m_structure.accelerated[producer.index] &&
         isExchangeable(m_structure.truncation.types[value.index]);
}

DataType Typing::findMade(ValueId value) const {
  const NodeId producer = m_graph.value(value).producer;
  if (!isFree(value)) return m_graph.value(value).type.dtype;
  const DataType own = m_structure.truncation.types[value.index];
  const Node& node = m_graph.node(producer);
  if (!moves(producer)) {
    const bool asDeclared = leavesAnotherType(m_structure.facts[producer.index], own);
    return !asDeclared && isExchangeable(calculates(producer)) ? calculates(producer) : own;
  }
  if (isFloatCast(m_graph, node)) return own;
  // Inputs that are joined with calculated values take the type of these, because no node calculated the inputs in a
  // wide type.
  DataType made = DataType::Undefined, given = DataType::Undefined;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (!input.valid() || m_graph.isConstant(input) || !isDataOperand(node, i)) continue;
    const DataType held = m_structure.truncation.types[input.index], from = m_made[input.index];
    DataType& into = m_structure.uncalculated[input.index] ? given : made;
    if (isExchangeable(held)) into = widest(into, isExchangeable(from) ? from : held);
  }
  if (made != DataType::Undefined) return made;
  return given == DataType::Undefined ? own : given;
}

DataType Typing::readType(const Node& node, std::size_t i) const {
  const ValueId value = node.inputs[i];
  const DataType own = declared(value, node.id);
  const bool chooses = m_structure.accelerated[node.id.index] && isExchangeable(own) && isDataOperand(node, i);
  if (!chooses) return own;
  if (moves(node.id) || node.is("Cast") || readsExtentsOnly(node)) return DataType::Undefined;
  return isExchangeable(calculates(node.id)) ? calculates(node.id) : own;
}

/// Returns the type in which the results of a move are wanted: that of their readers, but not wider than they are made,
/// and that of a directive if they are stored. A Cast of the author that widens wants what its readers want; one that
/// rounds wants the type to which it rounds, unless it reads another narrow float.
DataType Typing::wantedBehind(const Node& move) const {
  const bool cast = isFloatCast(m_graph, move);
  if (rounds(m_graph, move)) {
    const ValueId read = move.input(0);
    const bool readsHalf = isNarrow(m_made[read.index]) && isNarrow(m_structure.truncation.types[read.index]);
    return readsHalf ? m_made[read.index] : findStored(move.outputs.front());
  }
  DataType wanted = DataType::Undefined;
  for (const ValueId result : move.outputs) {
    if (!result.valid()) continue;
    const bool carries = isFree(result) && !cast;
    const DataType here = carries ? narrower(m_made[result.index], m_wanted[result.index]) : m_wanted[result.index];
    wanted = widest(wanted, widest(m_pinned[result.index], here));
  }
  const bool asks = wanted == DataType::Undefined && cast;
  return asks ? m_structure.truncation.types[move.outputs.front().index] : wanted;
}

DataType Typing::findWanted(ValueId value) const {
  const DataType own = m_graph.value(value).type.dtype;
  DataType wanted = m_graph.isOutput(value) ? own : DataType::Undefined;
  for (const NodeId id : m_graph.value(value).consumers) {
    const Node& reader = m_graph.node(id);
    const bool captured = std::ranges::find(reader.inputs, value) == reader.inputs.end();
    if (captured) wanted = widest(wanted, own);
    for (std::size_t i = 0; i < reader.inputs.size(); ++i) {
      if (reader.inputs[i] != value) continue;
      DataType type = readType(reader, i);
      if (type == DataType::Undefined && moves(id)) type = wantedBehind(reader);
      if (type == DataType::Undefined && reader.is("Cast") && !moves(id)) type = own;
      wanted = widest(wanted, type);
    }
  }
  return wanted;
}

DataType Typing::findStored(ValueId value) const {
  if (m_graph.isConstant(value)) return m_structure.truncation.types[value.index];
  if (m_graph.isInput(value)) return m_graph.value(value).type.dtype;
  const NodeId producer = m_graph.value(value).producer;
  if (!isFree(value)) return producer.valid() ? declared(value, producer) : m_graph.value(value).type.dtype;
  if (m_pinned[value.index] != DataType::Undefined) return m_pinned[value.index];
  if (isFloatCast(m_graph, m_graph.node(producer))) return m_structure.truncation.types[value.index];
  return narrower(m_made[value.index], m_wanted[value.index]);
}

// Produced types propagate along the edges through moves, and wanted types against them; both end at nodes that
// calculate.
Typing::Undo Typing::apply(const Change& change) {
  Undo undo;
  std::set<ValueId> touched;
  std::vector<ValueId> made, wanted;
  for (const auto& [node, type] : change.nodes) {
    undo.change.nodes.emplace_back(node, m_calculates[node.index]);
    m_calculates[node.index] = type;
    for (const ValueId value : m_graph.node(node).outputs)
      if (value.valid()) made.push_back(value);
    for (const ValueId value : m_graph.node(node).inputs)
      if (value.valid() && !m_graph.isConstant(value)) wanted.push_back(value);
  }
  for (const auto& [value, type] : change.values) {
    undo.change.values.emplace_back(value, m_pinned[value.index]);
    m_pinned[value.index] = type;
    touched.insert(value);
    const NodeId producer = m_graph.value(value).producer;
    if (!moves(producer)) continue;
    for (const ValueId input : m_graph.node(producer).inputs)
      if (input.valid() && !m_graph.isConstant(input)) wanted.push_back(input);
  }
  while (!made.empty()) {
    const ValueId value = made.back();
    made.pop_back();
    touched.insert(value);
    const DataType now = findMade(value);
    if (now == m_made[value.index]) continue;
    m_made[value.index] = now;
    wanted.push_back(value);
    const NodeId producer = m_graph.value(value).producer;
    if (producer.valid() && moves(producer))
      for (const ValueId input : m_graph.node(producer).inputs)
        if (input.valid() && !m_graph.isConstant(input)) wanted.push_back(input);
    for (const NodeId user : m_graph.value(value).consumers)
      if (moves(user))
        for (const ValueId result : m_graph.node(user).outputs)
          if (result.valid()) made.push_back(result);
  }
  while (!wanted.empty()) {
    const ValueId value = wanted.back();
    wanted.pop_back();
    touched.insert(value);
    const DataType now = findWanted(value);
    if (now == m_wanted[value.index]) continue;
    m_wanted[value.index] = now;
    const NodeId producer = m_graph.value(value).producer;
    if (!producer.valid() || !moves(producer)) continue;
    for (const ValueId input : m_graph.node(producer).inputs)
      if (input.valid() && !m_graph.isConstant(input)) wanted.push_back(input);
  }
  for (const ValueId value : touched) {
    const DataType now = findStored(value);
    if (now == m_stored[value.index]) continue;
    m_stored[value.index] = now;
    undo.retyped.push_back(value);
  }
  std::ranges::reverse(undo.change.nodes);
  std::ranges::reverse(undo.change.values);
  return undo;
}

}  // namespace fusescope
