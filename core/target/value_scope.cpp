#include "target/value_scope.h"

namespace fusescope {

ValueScope::ValueScope(const Subgraph& body, const ValueScope& outer) : m_graph(*body.graph), m_outer(&outer) {
  const std::vector<ValueId>& inputs = m_graph.inputs();
  const std::size_t own = inputs.size() - body.captures.size();
  for (std::size_t i = 0; i < body.captures.size(); ++i) m_captured[inputs[own + i]] = body.captures[i];
}

const Tensor* ValueScope::constant(ValueId value) const {
  if (!m_graph.has(value)) return nullptr;
  if (m_graph.isConstant(value)) return m_graph.value(value).constant.get();
  if (m_outer == nullptr) return nullptr;
  const auto captured = m_captured.find(value);
  return captured == m_captured.end() ? nullptr : m_outer->constant(captured->second);
}

}  // namespace fusescope
