#include <QKeyEvent>
#include <algorithm>

#include "ui/compare/two_views.h"
#include "ui/document/qt_text.h"

namespace fusescope {

// Of the sides, one whose nodes have the ids of those on screen: it is of the same graph.
const std::vector<NodeId>* TwoViews::unionOfScreen() const {
  const auto snapshot = m_context.document.snapshot();
  if (!m_shown || !snapshot) return nullptr;
  const UnionLevel& network = m_shown->both.levels.front();
  const auto isOnScreen = [&](const Cover* cover) {
    return cover->model == snapshot->cover->model || &cover->graph() == &snapshot->graph();
  };
  if (isOnScreen(network.b)) return &network.nodeOfB;
  if (isOnScreen(network.a)) return &network.nodeOfA;
  const auto isAlike = [&](const Cover* cover) {  // opened again, or planned with codes beside its nodes
    return unquantized(cover->model)->contentHash == unquantized(snapshot->cover->model)->contentHash;
  };
  if (isAlike(network.b)) return &network.nodeOfB;
  return isAlike(network.a) ? &network.nodeOfA : nullptr;
}

// What is selected in a view is selected in the other one and, as far as the plan on screen has it, everywhere.
void TwoViews::takeSelection(const QStringList& names, const QObject* view) {
  for (GraphView* other : m_views)
    if (other != view) other->select(names, false);
  const std::vector<NodeId>* toUnion = unionOfScreen();
  if (toUnion == nullptr) return;
  const UnionLevel& network = m_shown->both.levels.front();
  std::vector<NodeId> nodes;
  std::vector<NodeId> ofScreen(network.cover->graph().nodeIdLimit());
  for (std::size_t node = 0; node < toUnion->size(); ++node)
    if ((*toUnion)[node].valid()) ofScreen[(*toUnion)[node].index] = NodeId(node);
  const auto add = [&](NodeId inUnion) {
    if (const NodeId node = ofScreen[inUnion.index]; node.valid() && m_context.document.snapshot()->graph().has(node))
      nodes.push_back(node);
  };
  for (const QString& entry : names) {
    const std::string name = entry.toStdString();
    if (const auto node = network.cover->graph().findNode(name)) {
      add(*node);
      continue;
    }
    if (const auto fused = m_shown->byHandle.find(name); fused != m_shown->byHandle.end())
      std::ranges::for_each(network.cover->fusedNodes[fused->second].nodes, add);
    for (const Segment& segment : network.cover->segments)
      if (segment.name == name) std::ranges::for_each(segment.nodes, add);
  }
  const auto snapshot = m_context.document.snapshot();
  if (const std::string first = names.isEmpty() ? std::string() : names.first().toStdString(); nodes.empty())
    if (const auto inside = snapshot->inside(first)) return m_context.selection.set({inside->holder}, this, first);
  m_context.selection.set(std::move(nodes), this);
}

void TwoViews::showSelection(const QObject* source) {
  if (!m_shown || !isVisible()) return;
  const std::vector<NodeId>* toUnion = unionOfScreen();
  if (toUnion == nullptr || (source == this && m_context.selection.nodes().empty())) return;
  if (source == this && !m_views[0]->selection().isEmpty()) return;
  const UnionLevel& network = m_shown->both.levels.front();
  QStringList names;
  for (const NodeId node : m_context.selection.nodes())
    if (node.index < toUnion->size() && (*toUnion)[node.index].valid() &&
        network.cover->graph().has((*toUnion)[node.index]))
      names << qs(network.cover->graph().node((*toUnion)[node.index]).name);
  if (!m_context.selection.inside().empty()) names = QStringList(qs(m_context.selection.inside()));
  for (GraphView* view : m_views) view->select(names, source != this);
}

void TwoViews::goTo(const QModelIndex& index) {
  m_summary->setText(summaryText());
  if (!index.isValid()) return;
  const QStringList all = m_model->allNodes(index);
  m_views[0]->select(all, false);
  takeSelection(all, m_views[0]);
  m_views[0]->showNames(m_model->firstNodes(index));
}

void TwoViews::goToNext(int by) {
  const int count = m_model->groupCount();
  if (count == 0) return;
  const QModelIndex now = m_list->currentIndex();
  const int row = !now.isValid() ? (by > 0 ? -1 : count) : now.parent().isValid() ? now.parent().row() : now.row();
  const QModelIndex next = m_model->index((row + by + count) % count, 0);
  if (next == now) return goTo(next);
  m_list->setCurrentIndex(next);
  m_list->scrollTo(next);
}

void TwoViews::keyPressEvent(QKeyEvent* event) {
  const bool plain = (event->modifiers() & ~Qt::ShiftModifier) == Qt::NoModifier;
  if (event->key() != Qt::Key_N || !plain) return QWidget::keyPressEvent(event);
  goToNext((event->modifiers() & Qt::ShiftModifier) != 0 ? -1 : 1);
}

}  // namespace fusescope
