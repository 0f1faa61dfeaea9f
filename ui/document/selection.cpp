#include "ui/document/selection.h"

#include <algorithm>

namespace fusescope {

bool Selection::contains(NodeId node) const {
  return std::find(m_nodes.begin(), m_nodes.end(), node) != m_nodes.end();
}

void Selection::set(std::vector<NodeId> nodes, const QObject* source, std::string inside) {
  if (nodes == m_nodes && inside == m_inside) return;
  m_inside = std::move(inside);
  m_nodes = std::move(nodes);
  emit changed(source);
}

}  // namespace fusescope
