#include "ui/docks/layers_dock.h"

#include <QComboBox>
#include <QFile>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QPushButton>
#include <QVBoxLayout>

#include "base/files.h"
#include "planning/types/pin_choices.h"
#include "ui/document/qt_text.h"
#include "ui/models/contents.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

namespace {

/// A combo box with the pins that are possible for the node. It changes directives through the dock and never writes to
/// the model.
class PinDelegate : public CellDelegate {
 public:
  PinDelegate(const DockContext& context, LayersDock& dock)
      : CellDelegate(context.theme, {LayersModel::kCompute, LayersModel::kStored, LayersModel::kPin}, &dock),
        m_context(context),
        m_dock(dock) {}

  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem&, const QModelIndex& index) const override {
    const Plan& plan = *m_dock.model().levelAt(index.row()).snapshot->plan;
    auto* box = new QComboBox(parent);
    box->addItem(QStringLiteral("no pin"), QPoint(0, 0));
    const NodeId node = m_dock.model().nodeAt(index.row());
    const bool ranges = m_context.document.ranges() != nullptr;
    for (const DataType type : pinTypes(plan, ranges)) {
      if (!pinRefusal(plan, node, type, ranges).isEmpty()) continue;
      for (const Strictness strictness : {Strictness::Prefer, Strictness::Obey}) {
        box->addItem(PinChoice{type, strictness}.text(), QPoint(static_cast<int>(type), static_cast<int>(strictness)));
        const QString unknown = timeUnknownReason(plan, type);
        if (!unknown.isEmpty()) box->setItemData(box->count() - 1, QStringLiteral("Time: ") + unknown, Qt::ToolTipRole);
      }
    }
    connect(box, qOverload<int>(&QComboBox::activated), box, [this, box] {
      emit const_cast<PinDelegate*>(this)->commitData(box);
      emit const_cast<PinDelegate*>(this)->closeEditor(box);
    });
    return box;
  }
  void setEditorData(QWidget* editor, const QModelIndex& index) const override {
    auto* box = static_cast<QComboBox*>(editor);
    const auto pin = m_dock.model().pinOf(m_dock.model().nameAt(index.row()));
    box->setCurrentIndex(std::max(0, box->findText(pin.value_or(PinChoice()).text())));
    box->showPopup();
  }
  void setModelData(QWidget* editor, QAbstractItemModel*, const QModelIndex& index) const override {
    const QPoint chosen = static_cast<QComboBox*>(editor)->currentData().toPoint();
    m_dock.applyPin(index.row(), {static_cast<DataType>(chosen.x()), static_cast<Strictness>(chosen.y())});
  }

 private:
  DockContext m_context;
  LayersDock& m_dock;
};

}  // namespace

LayersDock::LayersDock(const DockContext& context)
    : Dock(context), m_filter(new QLineEdit), m_explanation(new QLabel), m_view(new QTableView), m_totals(new QLabel) {
  m_filter->setPlaceholderText(
      QStringLiteral("Filter: words, op:Conv, dtype:f16, pinned, -fused, inside:If_0, time>0.5, error>0.01, /regex/"));
  m_filter->setClearButtonEnabled(true);
  m_filter->setMinimumWidth(200);
  m_filter->setAccessibleName(QStringLiteral("Filter the layers"));
  m_explanation->setForegroundRole(QPalette::PlaceholderText);
  auto* pattern = new QPushButton(QStringLiteral("Pin a pattern…"));
  auto* csv = new QPushButton(QStringLiteral("CSV…"));
  csv->setToolTip(QStringLiteral("Save the rows as displayed, filtered and sorted"));
  auto* row = toolRow({m_filter, m_explanation, pattern, csv}, this, 0);

  m_view->setModel(&m_model);
  m_view->setItemDelegate(new PinDelegate(context, *this));
  m_view->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
  m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_view->setContextMenuPolicy(Qt::CustomContextMenu);
  m_view->setAccessibleName(QStringLiteral("Layers"));
  const auto widthOf = [this](const char* text) {
    return m_view->fontMetrics().horizontalAdvance(QString::fromUtf8(text));
  };
  const int time = widthOf("≈ 0.123 ms"), error = widthOf("[1.2e-05 / 3.4e-06]");  // numbers are never shortened
  styleTable(*m_view, {0, -70, -104, -88, 76, 84, 50, 64, 72, time, error, error}, true);
  m_view->horizontalHeader()->setMinimumSectionSize(56);
  // If there are errors, they are the most important columns.
  for (const auto& [column, place] : {std::pair(LayersModel::kLocal, 1), std::pair(LayersModel::kCarried, 2)})
    m_view->horizontalHeader()->moveSection(m_view->horizontalHeader()->visualIndex(column), place);
  m_view->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(row);
  layout->addWidget(m_view);
  layout->addWidget(m_totals);
  m_totals->setForegroundRole(QPalette::PlaceholderText);
  m_totals->setContentsMargins(10, 4, 10, 4);
  // The text gets the width of the table and does not determine it.
  m_totals->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);

  const auto times = [this] { refresh(kTimes); };
  connect(&context.document, &PlanDocument::planChanged, this, [this] { refresh(kPlan); });
  connect(&context.runs, &Runs::shownChanged, this, times);
  connect(&context.runs, &Runs::runChanged, this, [this](const QString& id) {
    if (const Run* shown = shownRun(id); shown != nullptr && (shown->time || !shown->errors.empty())) refresh(kTimes);
  });
  connect(&context.runs, &Runs::settingsChanged, this, times);
  connect(&context.selection, &Selection::changed, this, [this](const QObject* source) {
    if (source != this) refresh(kSelection);
  });
  connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, &LayersDock::readSelection);
  connect(m_filter, &QLineEdit::textChanged, this, &LayersDock::applyFilter);
  connect(pattern, &QPushButton::clicked, this, [this] { m_context.act("pin_pattern"); });
  connect(csv, &QPushButton::clicked, this, [this] { m_context.act("save_layers"); });
  connect(m_view, &QWidget::customContextMenuRequested, this,
          [this](const QPoint& place) { m_context.nodeMenu(m_view->viewport()->mapToGlobal(place)); });
}

void LayersDock::renew(Parts parts) {
  if ((parts & kPlan) != 0) return renewPlan();
  if ((parts & kTimes) != 0) renewTimes();
  if ((parts & kSelection) != 0) showSelection();
}

void LayersDock::renewPlan() {
  m_syncing = true;
  m_model.setSnapshot(m_context.document.snapshot());
  renewTimes();
  m_syncing = false;
  explainFilter(LayerFilter::parse(m_filter->text()));
  showSelection();
}

void LayersDock::renewTimes() {
  const Run* run = m_context.runs.shown();
  const ShownTimes times = m_context.runs.layerTimes();
  QString unknown;
  if (run != nullptr && run->time && times.empty()) {
    unknown = qs(run->time->unavailableReason);
    if (unknown.isEmpty())
      unknown = QStringLiteral("%1 has other kernels or types than this plan: build again.").arg(Runs::title(*run));
  }
  m_model.setTimes(times, unknown);
  const ShownErrors errors = m_context.runs.layerErrors();
  m_model.setErrors(errors);
  for (const int column : {LayersModel::kLocal, LayersModel::kCarried})
    m_view->setColumnHidden(column, errors.of.empty());
  const auto failure = m_context.runs.failure();
  m_model.setFailing(failure ? qs(failure->name) : QString());
  renewTotals();
}

void LayersDock::renewTotals() {
  m_totals->setText(m_context.document.snapshot() ? m_model.totalsText() : QString());
  m_totals->setToolTip(tipText(m_totals->text()));
}

void LayersDock::applyFilter() {
  const LayerFilter filter = LayerFilter::parse(m_filter->text());
  m_syncing = true;
  m_model.setFilter(filter);
  m_syncing = false;
  explainFilter(filter);
  showSelection();
}

void LayersDock::explainFilter(const LayerFilter& filter) {
  const QString count =
      m_model.rowCount() == m_model.totalCount()
          ? plural(m_model.totalCount(), QStringLiteral("node"))
          : QStringLiteral("%1 of %2").arg(m_model.rowCount()).arg(plural(m_model.totalCount(), "node"));
  m_explanation->setText(filter.empty() && filter.understood() ? count
                                                               : filter.explanation() + QStringLiteral(" · ") + count);
  renewTotals();
}

void LayersDock::applyPin(int row, const PinChoice& choice) {
  QList<int> rows;
  for (const QModelIndex& index : m_view->selectionModel()->selectedRows()) rows << index.row();
  if (!rows.contains(row)) rows = {row};
  std::vector<std::string> names;
  for (const int able : rows)
    if (m_model.pinRefusalAt(able).isEmpty()) names.push_back(m_model.nameAt(able).toStdString());
  if (names.empty()) return;
  if (choice.type == DataType::Undefined) {
    m_context.document.clearDirectives(names);
  } else {
    m_context.document.pin(names, choice.type, choice.strictness);
  }
}

bool LayersDock::exportCsv(const QString& path) {
  return writeFileAtomically(path.toStdString(), m_model.csv().toStdString()).ok();
}

void LayersDock::showSelection() {
  m_syncing = true;
  QItemSelection rows;
  int first = -1;
  const auto snapshot = m_context.document.snapshot();
  const auto inside = snapshot ? snapshot->inside(m_context.selection.inside()) : std::nullopt;
  const auto& nodes = inside ? inside->nodes : m_context.selection.nodes();
  if (snapshot && nodes.size() <= 500) {
    QList<int> selected = m_model.rowsOf(inside ? *inside->body : *snapshot, nodes);
    if (const int kernel = m_model.rowOfKernel(m_context.selection.kernel()); kernel >= 0) selected = {kernel};
    for (const int row : selected) {
      if (first < 0) first = row;
      rows.select(m_model.index(row, 0), m_model.index(row, LayersModel::kColumns - 1));
    }
  }
  m_view->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect);
  if (first >= 0) {
    m_view->selectionModel()->setCurrentIndex(m_model.index(first, 0), QItemSelectionModel::NoUpdate);
    m_view->scrollTo(m_model.index(first, 0));
  }
  m_syncing = false;
}

/// Reads the selection: any number of nodes of the network, or one thing in a body, or one kernel.
void LayersDock::readSelection() {
  if (m_syncing) return;
  std::vector<NodeId> nodes;
  int inside = -1, kernel = -1;
  for (const QModelIndex& index : m_view->selectionModel()->selectedRows()) {
    if (!m_model.nodeAt(index.row()).valid())
      kernel = index.row();
    else if (!m_model.levelAt(index.row()).holder.valid())
      nodes.push_back(m_model.nodeAt(index.row()));
    else if (inside < 0)
      inside = index.row();
  }
  if (nodes.empty() && kernel >= 0)
    return selectNamed(m_context.selection, *m_context.document.snapshot(), {qs(m_model.kernelAt(kernel))}, this);
  if (!nodes.empty() || inside < 0) return m_context.selection.set(std::move(nodes), this);
  m_context.selection.set({m_model.levelAt(inside).holder}, this, m_model.nameAt(inside).toStdString());
}

extern const DockForm kLayersDock{"Layers", "Ctrl+3", Qt::BottomDockWidgetArea,
                                  [](const DockContext& context) -> Dock* { return new LayersDock(context); }};

}  // namespace fusescope
