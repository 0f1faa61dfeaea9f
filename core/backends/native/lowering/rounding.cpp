#include "backends/native/lowering/rounding.h"

#include <algorithm>

#include "backends/native/kernels/narrow_floats.h"
#include "ir/graph.h"
#include "planning/fusion/match.h"
#include "planning/types/read_type.h"

namespace fusescope::native {

Rounding::Rounding(const KernelRequest& request, std::set<ValueId> byReader)
    : m_request(&request), m_graph(&request.plan->graph()), m_roundedByReader(std::move(byReader)) {
  findMade();
  findHeld();
  const bool readsNarrow = std::ranges::any_of(request.fused->nodes,
                                               [&](NodeId id) { return isNarrow(request.plan->calculates[id.index]); });
  if (!readsNarrow) return;
  findMoved();
  findWanted();
  decide();
  if (!m_differs) return;
  m_exact.clear();  // these types assumed that every reader gets the same rounding
  decide();
  m_read.clear();
}

DataType Rounding::readBy(NodeId reader, ValueId value) const {
  const Node& node = m_graph->node(reader);
  const std::vector<ValueId>& inputs = m_request->fused->inputs;
  const bool isMemory =
      isMoved(value) || m_request->constants.contains(value) || std::ranges::find(inputs, value) != inputs.end();
  if (!isMemory) return DataType::Undefined;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const DataType type = node.inputs[i] == value ? narrowReadType(*m_request->plan, node, i) : DataType::Undefined;
    if (type != DataType::Undefined && found(m_exact, value) != type) return type;
  }
  return DataType::Undefined;
}

void Rounding::findMade() {
  for (const InnerEdge& edge : m_request->fused->innerEdges)
    if (isNarrow(edge.type)) m_made[edge.value] = edge.type;
}

/// Finds the types of moved values: a node that moves elements passes them on in the type that they have in memory, or
/// to which they were rounded before.
void Rounding::findHeld() {
  if (m_made.empty()) return;
  Types held = m_made;
  for (const ValueId value : m_request->fused->inputs) held[value] = m_request->values.at(value).dtype;
  for (const auto& [value, tensor] : m_request->constants) held[value] = tensor.type();
  for (const NodeId id : m_request->fused->nodes) {
    const Node& node = m_graph->node(id);
    if (!movesElements(*m_request->plan, id) || node.inputs.empty() || !node.input(0).valid()) continue;
    const DataType from = found(held, node.input(0));
    const bool same =
        isNarrow(from) && std::ranges::all_of(node.inputs, [&](ValueId value) {
          return !value.valid() || !isFloat(m_graph->value(value).type.dtype) || found(held, value) == from;
        });
    for (const ValueId value : node.outputs) {
      if (!value.valid() || !same) continue;
      if (made(value) == from) m_isHeld.insert(value);
      held.emplace(value, from);
    }
  }
}

void Rounding::findMoved() {
  std::set<ValueId> made;
  for (const NodeId id : m_request->fused->nodes) {
    const Node& node = m_graph->node(id);
    const bool fromMemory =
        movesElements(*m_request->plan, id) && std::ranges::any_of(node.inputs, [&](ValueId value) {
          if (!value.valid()) return false;
          return isMoved(value) || (!made.contains(value) && isFloat(m_graph->value(value).type.dtype));
        });
    for (const ValueId value : node.outputs) {
      if (!value.valid()) continue;
      made.insert(value);
      if (fromMemory) m_moved.insert(value);
    }
  }
}

// The nodes are visited from the last to the first, so that the types that are wanted of a moved value are known when
// its source is visited.
void Rounding::findWanted() {
  const FusedNode& fused = *m_request->fused;
  const auto wantedOfOutput = [&](ValueId value, std::set<DataType>& wanted) {
    for (const FusedOutput& output : fused.outputs)
      if (output.value == value) wanted.insert(isNarrow(output.type) ? output.type : DataType::Undefined);
    const auto readers = m_wanted.find(value);
    if (readers != m_wanted.end()) wanted.insert(readers->second.begin(), readers->second.end());
  };
  for (auto id = fused.nodes.rbegin(); id != fused.nodes.rend(); ++id) {
    const Node& node = m_graph->node(*id);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId value = node.inputs[i];
      if (!value.valid() || !isFloat(m_graph->value(value).type.dtype)) continue;
      std::set<DataType>& wanted = m_wanted[value];
      if (!movesElements(*m_request->plan, *id)) {
        wanted.insert(narrowReadType(*m_request->plan, node, i));
        continue;
      }
      if (isFloatCast(*m_graph, node) && made(node.outputs.front()) != DataType::Undefined) {
        wanted.insert(made(node.outputs.front()));
        continue;
      }
      for (const ValueId result : node.outputs)
        if (result.valid()) wantedOfOutput(result, wanted);
    }
  }
}

void Rounding::decide() {
  for (const ValueId value : m_request->fused->inputs) {
    const DataType type = m_request->values.at(value).dtype;
    if (isNarrow(type)) m_exact[value] = type;
    decide(value);
  }
  for (const auto& [value, tensor] : m_request->constants) {
    if (isNarrow(tensor.type())) m_exact[value] = tensor.type();
    decide(value);
  }
  for (const NodeId id : m_request->fused->nodes) {
    const Node& node = m_graph->node(id);
    for (const ValueId value : node.outputs) {
      if (!value.valid()) continue;
      const DataType exact = isMoved(value) ? exactType(node) : DataType::Undefined;
      if (exact != DataType::Undefined) m_exact[value] = exact;
      if (made(value) != DataType::Undefined) m_exact[value] = made(value);
      if (isMoved(value)) decide(value);
    }
  }
}

void Rounding::decide(ValueId value) {
  const auto at = m_wanted.find(value);
  if (at == m_wanted.end() || isRoundedByReader(value)) return;
  std::set<DataType> wanted = at->second;
  wanted.erase(found(m_exact, value));  // rounding to a type that represents the value exactly changes nothing
  if (wanted.empty() || wanted == std::set{DataType::Undefined}) return;
  if (at->second.size() > 1) {
    m_differs = true;
    return;
  }
  m_read[value] = *wanted.begin();
  if (!m_differs) m_exact[value] = *wanted.begin();
}

/// Returns the narrow type that represents all operands of `mover` exactly, or Undefined if there is none.
DataType Rounding::exactType(const Node& mover) const {
  std::optional<DataType> all;
  for (const ValueId value : mover.inputs) {
    if (!value.valid() || !isFloat(m_graph->value(value).type.dtype)) continue;
    const DataType one = found(m_exact, value);
    all = !all || *all == one ? one : DataType::Undefined;
    if (*all == DataType::Undefined) break;
  }
  return all.value_or(DataType::Undefined);
}

}  // namespace fusescope::native
