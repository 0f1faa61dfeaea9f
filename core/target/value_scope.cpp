#include "target/value_scope.h"

#include <algorithm>

#include "ops/op_schema.h"

namespace fusescope {

ValueScope::ValueScope(const Subgraph& body, const ValueScope& outer) : m_graph(*body.graph), m_outer(&outer) {
  const std::vector<ValueId>& inputs = m_graph.inputs();
  const std::size_t own = inputs.size() - body.captures.size();
  for (std::size_t i = 0; i < body.captures.size(); ++i) m_captured[inputs[own + i]] = body.captures[i];
  m_foldable.assign(m_graph.valueIdLimit(), 0);
  for (const NodeId id : m_graph.order()) {
    const Node& node = m_graph.node(id);
    const OpSchema* schema = OpRegistry::standard().find(node);
    if (schema == nullptr || !schema->deterministic || hasBody(node)) continue;
    const bool foldable =
        std::ranges::all_of(node.inputs, [&](ValueId input) { return !input.valid() || dependsOnConstants(input); });
    for (const ValueId output : node.outputs)
      if (foldable && output.valid()) m_foldable[output.index] = 1;
  }
}

const Tensor* ValueScope::constant(ValueId value) const {
  if (!m_graph.has(value)) return nullptr;
  if (m_graph.isConstant(value)) return m_graph.value(value).constant.get();
  if (m_outer == nullptr) return nullptr;
  const auto captured = m_captured.find(value);
  return captured == m_captured.end() ? nullptr : m_outer->constant(captured->second);
}

bool ValueScope::dependsOnConstants(ValueId value) const {
  if (!m_graph.has(value)) return false;
  if (m_graph.isConstant(value)) return true;
  if (m_outer == nullptr) return false;
  if (m_foldable[value.index] != 0) return true;
  const auto captured = m_captured.find(value);
  return captured != m_captured.end() && m_outer->dependsOnConstants(captured->second);
}

bool ValueScope::isGiven(ValueId value) const {
  if (!m_graph.has(value)) return false;
  if (m_outer == nullptr) return m_graph.isInput(value);
  const auto captured = m_captured.find(value);
  return captured != m_captured.end() && m_outer->isGiven(captured->second);
}

}  // namespace fusescope
