#include "ui/docks/outline_dock.h"

#include <QHeaderView>
#include <QItemSelectionModel>
#include <QVBoxLayout>
#include <algorithm>

#include "ir/graph.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

namespace {

/// The least width of the column of types, and the space around its texts, which may be badges.
constexpr int kTypeWidth = 68, kBesideText = 34;
constexpr int kLeastNames = 132;       ///< the least width of the column of names
constexpr int kIndentation = 10;       ///< small, so that deep nesting leaves room for names
constexpr double kMostOfTypes = 0.42;  ///< the largest share of the width; the rest is for names

}  // namespace

OutlineDock::OutlineDock(const DockContext& context) : Dock(context), m_search(new QLineEdit), m_view(new QTreeView) {
  m_search->setPlaceholderText(QStringLiteral("Find (Return: the next)"));
  m_search->setClearButtonEnabled(true);
  m_search->setAccessibleName(QStringLiteral("Find in the outline"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(toolRow({m_search}, this, 0));
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
  m_view->header()->resizeSection(OutlineModel::kType, kTypeWidth);
  m_view->setIndentation(kIndentation);
  connect(&context.document, &PlanDocument::planChanged, this, [this] { refresh(kPlan); });
  connect(&context.selection, &Selection::changed, this, [this](const QObject* source) {
    if (source != this) refresh(kSelection);
  });
  connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, &OutlineDock::readSelection);
  connect(m_search, &QLineEdit::returnPressed, this, &OutlineDock::findNext);
  connect(m_search, &QLineEdit::textChanged, this, [this] { m_found.clear(); });
  connect(m_view, &QTreeView::doubleClicked, this,
          [this](const QModelIndex& index) { m_context.toggle(index.data(kNameRole).toString()); });
  connect(m_view, &QWidget::customContextMenuRequested, this,
          [this](const QPoint& place) { m_context.nodeMenu(m_view->viewport()->mapToGlobal(place)); });
}

/// Collects the keys of the rows that are open. Rows that were never opened are not visited, because visiting them
/// would create them.
void OutlineDock::collectOpen(const QModelIndex& parent, QSet<QString>& open) const {
  for (int i = 0; i < m_model.rowCount(parent); ++i) {
    const QModelIndex row = m_model.index(i, 0, parent);
    if (!m_view->isExpanded(row)) continue;
    open.insert(row.data(OutlineModel::kKeyRole).toString());
    collectOpen(row, open);
  }
}

void OutlineDock::reopen(const QModelIndex& parent, const QSet<QString>& open) {
  for (int i = 0; i < m_model.rowCount(parent); ++i) {
    const QModelIndex row = m_model.index(i, 0, parent);
    if (!open.contains(row.data(OutlineModel::kKeyRole).toString())) continue;
    m_view->expand(row);
    reopen(row, open);
  }
}

void OutlineDock::renew(Parts parts) {
  if ((parts & kPlan) != 0) renewPlan();
  if ((parts & (kPlan | kSelection)) != 0) showSelection();
}

void OutlineDock::renewPlan() {
  QSet<QString> open;
  const bool first = m_model.rowCount() == 0;
  collectOpen({}, open);
  m_syncing = true;
  m_model.setSnapshot(m_context.document.snapshot());
  reopen({}, open);
  for (int i = 0; first && i < m_model.rowCount(); ++i) m_view->expand(m_model.index(i, 0));
  QFont bold = m_view->font();  // the font of what is new in the plan
  bold.setBold(true);
  const QFontMetrics metrics(bold);
  int longest = metrics.horizontalAdvance(m_model.longestType());
  for (int i = 0; i < m_model.rowCount(); ++i)
    longest = std::max(longest, metrics.horizontalAdvance(m_model.index(i, OutlineModel::kType).data().toString()));
  longest += kBesideText;
  const int width = m_view->viewport()->width();
  const int most = std::min(static_cast<int>(kMostOfTypes * width), width - kLeastNames);
  m_view->header()->resizeSection(OutlineModel::kType, std::max(kTypeWidth, std::min(longest, most)));
  m_syncing = false;
}

/// Goes to the next block or node whose name contains the text, in the order of the network and then of its bodies.
void OutlineDock::findNext() {
  const auto snapshot = m_context.document.snapshot();
  const QString text = m_search->text().trimmed();
  if (!snapshot || text.isEmpty()) return;
  QStringList names;
  for (const PlanSnapshot::Level& level : snapshot->levels()) {
    for (const CoverBlock& block : level.snapshot->blocks->all())
      names << qs(level.path.exactly(level.snapshot->blocks->handleOf(*level.snapshot->cover, block)));
    for (const NodeId id : level.snapshot->graph().order())
      names << qs(level.path.of(level.snapshot->graph().node(id).name));
  }
  const int from = names.indexOf(m_found);  // if it is -1, the search begins with the first name
  for (int i = 1; i <= names.size(); ++i) {
    const QString& name = names[(from + i) % names.size()];
    if (!name.contains(text, Qt::CaseInsensitive)) continue;
    m_found = name;
    return goTo(m_context, name);
  }
  m_found.clear();
}

void OutlineDock::showSelection() {
  m_syncing = true;
  QItemSelection rows;
  QModelIndex current;
  const auto snapshot = m_context.document.snapshot();
  const auto& nodes = m_context.selection.nodes();
  const FusedNode* whole = snapshot ? selectedKernel(m_context.selection, *snapshot) : nullptr;
  const Segment* segment = snapshot ? snapshot->segmentOf(nodes) : nullptr;
  if (!m_context.selection.inside().empty()) {
    current = m_model.indexOfInside(m_context.selection.inside());
    rows.select(current, current);
  } else if (whole != nullptr) {
    current = m_model.indexOfFused(whole->id.index);
    rows.select(current, current);
  } else if (segment != nullptr) {
    current = m_model.indexOfSegment(segment->id.index);
    rows.select(current, current);
  } else if (const std::string block = snapshot ? snapshot->moduleHandle(nodes) : std::string();
             !block.empty() && m_model.indexOfBlock(block).isValid()) {
    current = m_model.indexOfBlock(block);
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
  QStringList names;
  for (const QModelIndex& row : m_view->selectionModel()->selectedRows()) names << row.data(kNameRole).toString();
  selectNamed(m_context.selection, *snapshot, names, this);
}

extern const DockForm kOutlineDock{"Outline", "Ctrl+1", Qt::LeftDockWidgetArea,
                                   [](const DockContext& context) -> Dock* { return new OutlineDock(context); }};

}  // namespace fusescope
