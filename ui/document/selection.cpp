#include "ui/document/selection.h"

#include <algorithm>

#include "ir/graph.h"
#include "ui/document/plan_snapshot.h"

namespace fusescope {

bool Selection::contains(NodeId node) const {
  return std::find(m_nodes.begin(), m_nodes.end(), node) != m_nodes.end();
}

void Selection::set(std::vector<NodeId> nodes, const QObject* source, std::string inside, std::string kernel) {
  if (nodes == m_nodes && inside == m_inside && kernel == m_kernel) return;
  m_kernel = std::move(kernel);
  m_inside = std::move(inside);
  m_nodes = std::move(nodes);
  emit changed(source);
}

std::vector<NodeId> sameNodes(const std::vector<NodeId>& nodes, const Graph& before, const Graph& now) {
  std::vector<NodeId> found;
  for (const NodeId node : nodes)
    if (const auto same = before.has(node) ? now.findNode(before.node(node).name) : std::nullopt)
      found.push_back(*same);
  return found;
}

const FusedNode* selectedKernel(const Selection& selection, const PlanSnapshot& snapshot) {
  const FusedNode* named = selection.kernel().empty() ? nullptr : snapshot.fusedWith(selection.kernel());
  return named != nullptr ? named : snapshot.fusedWithExactly(selection.nodes());
}

void selectNamed(Selection& selection, const PlanSnapshot& snapshot, const QStringList& names, const QObject* source) {
  std::vector<NodeId> nodes;
  std::string inside, kernel;
  for (const QString& entry : names) {
    const std::string name = entry.toStdString();
    const std::vector<NodeId> own = snapshot.nodesNamed(name);
    const FusedNode* fused = snapshot.fusedWith(name);
    if (fused != nullptr && names.size() == 1 && !snapshot.isIdentifiedByNodes(*fused)) kernel = name;
    if (own.empty() && inside.empty() && snapshot.inside(name)) inside = name;
    nodes.insert(nodes.end(), own.begin(), own.end());
  }
  if (!nodes.empty() || inside.empty()) return selection.set(std::move(nodes), source, {}, kernel);
  selection.set({snapshot.inside(inside)->holder}, source, inside);
}

}  // namespace fusescope
