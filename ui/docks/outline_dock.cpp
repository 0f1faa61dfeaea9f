#include "ui/docks/outline_dock.h"

#include <QHeaderView>
#include <QItemSelectionModel>
#include <QVBoxLayout>

#include "ui/docks/dock_widgets.h"

namespace fusescope {

OutlineDock::OutlineDock(const DockContext& context, QWidget* parent)
    : QWidget(parent), m_context(context), m_view(new QTreeView) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_view);
  m_view->setModel(&m_model);
  m_view->setUniformRowHeights(true);
  m_view->setHeaderHidden(true);
  m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_view->setExpandsOnDoubleClick(false);
  m_view->setContextMenuPolicy(Qt::CustomContextMenu);
  m_view->setAccessibleName(QStringLiteral("Outline"));
  m_view->setItemDelegate(new CellDelegate(context.theme, {OutlineModel::kType}, m_view));
  m_view->header()->setStretchLastSection(false);
  m_view->header()->setSectionResizeMode(OutlineModel::kName, QHeaderView::Stretch);
  m_view->header()->setSectionResizeMode(OutlineModel::kType, QHeaderView::Fixed);
  m_view->header()->resizeSection(OutlineModel::kType, 78);
  m_view->setIndentation(14);
  connect(&context.document, &PlanDocument::planChanged, this, &OutlineDock::refresh);
  connect(&context.selection, &Selection::changed, this, &OutlineDock::showSelection);
  connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, &OutlineDock::readSelection);
  connect(m_view, &QTreeView::doubleClicked, this,
          [this](const QModelIndex& index) { emit activated(index.data(kNameRole).toString()); });
  connect(m_view, &QWidget::customContextMenuRequested, this,
          [this](const QPoint& place) { emit menuRequested(m_view->viewport()->mapToGlobal(place)); });
}

void OutlineDock::refresh() {
  QSet<QString> open;
  const bool first = m_model.rowCount() == 0;
  for (int i = 0; i < m_model.rowCount(); ++i) {
    const QModelIndex segment = m_model.index(i, 0);
    if (!m_view->isExpanded(segment)) continue;
    open.insert(segment.data(kNameRole).toString());
    for (int j = 0; j < m_model.rowCount(segment); ++j) {
      const QModelIndex fused = m_model.index(j, 0, segment);
      if (m_view->isExpanded(fused)) open.insert(fused.data(kNameRole).toString());
    }
  }
  m_syncing = true;
  m_model.setSnapshot(m_context.document.snapshot());
  for (int i = 0; i < m_model.rowCount(); ++i) {
    const QModelIndex segment = m_model.index(i, 0);
    if (first || open.contains(segment.data(kNameRole).toString())) m_view->expand(segment);
    if (open.isEmpty()) continue;
    for (int j = 0; j < m_model.rowCount(segment); ++j) {
      const QModelIndex fused = m_model.index(j, 0, segment);
      if (open.contains(fused.data(kNameRole).toString())) m_view->expand(fused);
    }
  }
  m_syncing = false;
  showSelection(nullptr);
}

void OutlineDock::showSelection(const QObject* source) {
  if (source == this) return;
  m_syncing = true;
  QItemSelection rows;
  QModelIndex current;
  const auto snapshot = m_context.document.snapshot();
  const auto& nodes = m_context.selection.nodes();
  const FusedNode* whole = snapshot && !nodes.empty() ? snapshot->fusedOf(nodes.front()) : nullptr;
  if (whole && whole->nodes == nodes) {
    current = m_model.indexOfFused(whole->id.index);
    rows.select(current, current);
  } else if (snapshot && nodes.size() <= 500) {
    for (const NodeId node : nodes) {
      const QModelIndex index = m_model.indexOf(node);
      if (!index.isValid()) continue;
      if (!current.isValid()) current = index;
      rows.select(index, index);
    }
  }
  m_view->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  if (current.isValid()) {
    m_view->selectionModel()->setCurrentIndex(current, QItemSelectionModel::NoUpdate);
    m_view->scrollTo(current);
  }
  m_syncing = false;
}

void OutlineDock::readSelection() {
  const auto snapshot = m_context.document.snapshot();
  if (m_syncing || !snapshot) return;
  std::vector<NodeId> nodes;
  for (const QModelIndex& row : m_view->selectionModel()->selectedRows()) {
    for (const NodeId node : snapshot->nodesNamed(row.data(kNameRole).toString().toStdString())) nodes.push_back(node);
  }
  m_context.selection.set(std::move(nodes), this);
}

}  // namespace fusescope
