#include <QKeyEvent>
#include <algorithm>

#include "base/text.h"
#include "ui/compare/two_views.h"
#include "ui/document/qt_text.h"

namespace fusescope {

// Returns the mapping of the side whose nodes have the same ids as the graph on screen.
static const std::vector<NodeId>* unionIdsOf(const UnionLevel& network, const PlanSnapshot& snapshot) {
  const auto isOnScreen = [&](const Cover* cover) {
    return cover->model == snapshot.cover->model || &cover->graph() == &snapshot.graph();
  };
  if (isOnScreen(network.b)) return &network.nodeOfB;
  if (isOnScreen(network.a)) return &network.nodeOfA;
  const auto isAlike = [&](const Cover* cover) {  // the network was opened again, or planned with additional codes
    return unquantized(cover->model)->contentHash == unquantized(snapshot.cover->model)->contentHash;
  };
  if (isAlike(network.b)) return &network.nodeOfB;
  return isAlike(network.a) ? &network.nodeOfA : nullptr;
}

// Returns, for each node on screen, the nodes of the union that represent it. If nodes of a file became one node, there
// are several; and one node may represent several nodes on screen.
std::optional<std::vector<std::vector<NodeId>>> TwoViews::unionOfScreen() const {
  const auto snapshot = m_context.document.snapshot();
  if (!m_shown || !snapshot) return std::nullopt;
  const UnionLevel& network = m_shown->both.levels.front();
  std::vector<std::vector<NodeId>> found(snapshot->graph().nodeIdLimit());
  if (m_shown->file != nullptr) {
    const PlanSide& plan = m_shown->file->isA ? *m_shown->b : *m_shown->a;
    if (unquantized(plan.artifact.plan->model)->contentHash != unquantized(snapshot->cover->model)->contentHash)
      return std::nullopt;
    const std::vector<NodeId>& nodeOf = m_shown->file->file.nodeOf;
    for (const NodeId node : snapshot->graph().order())
      for (const OriginId origin : snapshot->graph().node(node).origins)
        if (origin.index < nodeOf.size() && nodeOf[origin.index].valid())
          found[node.index].push_back(network.nodeOfA[nodeOf[origin.index].index]);
    return found;
  }
  const std::vector<NodeId>* ids = unionIdsOf(network, *snapshot);
  if (ids == nullptr) return std::nullopt;
  for (const NodeId node : snapshot->graph().order())
    if (node.index < ids->size() && (*ids)[node.index].valid()) found[node.index].push_back((*ids)[node.index]);
  return found;
}

// Selects in the other view what was selected in one of them, and selects it everywhere as far as the plan on screen
// contains it.
void TwoViews::takeSelection(const QStringList& names, const QObject* view) {
  for (GraphView* other : m_views)
    if (other != view) other->select(names, false);
  m_summary->setText(summaryText());
  const auto toUnion = unionOfScreen();
  if (!toUnion) return;
  const UnionLevel& network = m_shown->both.levels.front();
  std::vector<NodeId> nodes;
  std::vector<std::vector<NodeId>> ofScreen(network.cover->graph().nodeIdLimit());
  for (std::size_t node = 0; node < toUnion->size(); ++node)
    for (const NodeId inUnion : (*toUnion)[node]) ofScreen[inUnion.index].emplace_back(node);
  const auto add = [&](NodeId inUnion) {
    for (const NodeId node : ofScreen[inUnion.index])
      if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
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
  const auto toUnion = unionOfScreen();
  if (!toUnion || (source == this && m_context.selection.nodes().empty())) return;
  if (source == this && !m_views[0]->selection().isEmpty()) return;
  const UnionLevel& network = m_shown->both.levels.front();
  QStringList names;
  for (const NodeId node : m_context.selection.nodes()) {
    if (node.index >= toUnion->size()) continue;
    for (const NodeId inUnion : (*toUnion)[node.index]) {
      const QString name = qs(network.cover->graph().node(inUnion).name);
      if (!names.contains(name)) names << name;
    }
  }
  if (!m_context.selection.inside().empty()) names = QStringList(qs(m_context.selection.inside()));
  for (GraphView* view : m_views) view->select(names, source != this);
  m_summary->setText(summaryText());
}

// Returns a text such as "Shape_4: folded. It asks for extents that are known; the answer is a constant." It is empty
// unless exactly one node of the file is selected.
QString TwoViews::fileNodeText() const {
  const auto pair = m_comparison->pair();
  const QStringList selected = m_views[0]->selection();
  if (!pair || pair->file == nullptr || selected.size() != 1) return {};
  const auto& [file, in, isA] = *pair->file;
  const std::string name = selected.front().toStdString();
  auto node = file.model->graph->findNode(name);
  if (const auto fused = pair->byHandle.find(name); !node && fused != pair->byHandle.end())
    if (const std::vector<NodeId>& nodes = pair->both.cover->fusedNodes[fused->second].nodes; nodes.size() == 1)
      node = nodes.front();
  if (!node) return {};
  for (const OriginId origin : file.model->graph->node(*node).origins) {
    const FileNodeFate& fate = in.nodes[origin.index];
    QStringList parts{qs(fateText(file, fate))};
    if (!fate.why.empty()) parts << qs(fate.why);
    if (!fate.representedBy.empty()) parts << QStringLiteral("as %1").arg(qs(joined(fate.representedBy)));
    return QStringLiteral("%1: %2").arg(qs(file.model->graph->node(*node).name),
                                        parts.join(QStringLiteral(" \u00b7 ")));
  }
  return {};
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
