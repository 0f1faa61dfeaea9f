#include "ui/docks/compare_matrix.h"

#include <QHeaderView>
#include <QVBoxLayout>

#include "ir/graph.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/jobs/discard.h"
#include "ui/models/matrix_contents.h"
#include "ui/widgets/wrap_layout.h"

namespace fusescope {

namespace {

constexpr int kLeastRunColumn = 120, kMostRunColumn = 360, kLeastNodesColumn = 200, kMatrixSpacing = 10;
constexpr int kCellMargins = 28;  // the space beside a text, including the sort indicator of the header

/// Returns, for the column of each run, the longest text below its header.
QStringList longestTexts(const TableContent& content) {
  QStringList longest;
  for (int column = 1; column < content.headers.size(); ++column) {
    QString text;
    for (const TableRow& row : content.rows)
      if (const QString& own = row.cells[static_cast<std::size_t>(column)].text; own.size() > text.size()) text = own;
    longest << text;
  }
  return longest;
}

}  // namespace

CompareMatrix::CompareMatrix(const DockContext& context)
    : Dock(context),
      m_boxes(new QWidget),
      m_blocks(new QCheckBox(QStringLiteral("By block"))),
      m_summary(new QLabel),
      m_view(new QTableView) {
  m_blocks->setToolTip(QStringLiteral("A row for each module of the network, found from the names of its nodes"));
  m_summary->setWordWrap(true);
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setMargin(6);
  m_boxes->setLayout(new WrapLayout(nullptr));
  m_boxes->layout()->setSpacing(kMatrixSpacing);
  m_sorted.setSourceModel(&m_model);
  m_sorted.setSortRole(kSortRole);
  m_model.setContent(matrixContent({}));
  m_view->setModel(&m_sorted);
  m_view->setItemDelegate(new CellDelegate(context.theme, {}, m_view));
  m_view->setSelectionMode(QAbstractItemView::SingleSelection);
  m_view->setAccessibleName(QStringLiteral("Runs side by side"));
  styleTable(*m_view, {}, true);
  m_view->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  m_stack = new HintStack(m_view, QStringLiteral("Build a plan: its kernels appear here beside those of other runs."));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_boxes);
  layout->addWidget(m_summary);
  layout->addWidget(m_stack, 1);
  connect(m_blocks, &QCheckBox::toggled, this, &CompareMatrix::refreshAll);
  connect(m_view, &QTableView::clicked, this, &CompareMatrix::select);
  connect(m_view, &QTableView::activated, this, &CompareMatrix::select);
  connect(&context.document, &PlanDocument::modelChanged, this, [this] {
    m_chosen.clear();
    refreshAll();
  });
  connect(&context.document, &PlanDocument::planChanged, this, &CompareMatrix::refreshAll);
  connect(&context.runs, &Runs::runsChanged, this, &CompareMatrix::refreshAll);
  connect(&context.runs, &Runs::shownChanged, this, &CompareMatrix::refreshAll);
  connect(&context.runs, &Runs::runChanged, this, [this](const QString& id) {
    const Run* run = m_context.runs.find(id.toStdString());
    if (run != nullptr && !run->working()) refreshAll();
  });
}

/// Returns the two runs that are compared, followed by the other selected runs.
std::vector<const Run*> CompareMatrix::columns() const {
  const Runs& runs = m_context.runs;
  std::vector<const Run*> all;
  const auto add = [&](const Run* run) {
    if (run != nullptr && run->hasEngine() && std::find(all.begin(), all.end(), run) == all.end()) all.push_back(run);
  };
  add(runs.comparedWith());
  add(runs.shown());
  for (const Run& run : runs.all())
    if (m_chosen.count(run.id) > 0) add(&run);
  return all;
}

QCheckBox* CompareMatrix::boxOf(const QString& run) {
  catchUp();
  return m_boxes->findChild<QCheckBox*>(run);
}

void CompareMatrix::renewBoxes() {
  const Runs& runs = m_context.runs;
  QStringList wanted;
  for (const Run& run : runs.all())
    if (run.hasEngine()) wanted << qs(run.id);
  QStringList there;
  for (const QCheckBox* box : m_boxes->findChildren<QCheckBox*>())
    if (box != m_blocks) there << box->objectName();
  if (wanted != there) {
    for (QCheckBox* box : m_boxes->findChildren<QCheckBox*>())
      if (box != m_blocks) delete box;
    m_boxes->layout()->removeWidget(m_blocks);
    for (const QString& id : wanted) {
      auto* box = new QCheckBox(m_boxes);
      box->setObjectName(id);
      m_boxes->layout()->addWidget(box);
      connect(box, &QCheckBox::clicked, this, [this, id](bool on) {
        on ? (void)m_chosen.insert(id.toStdString()) : (void)m_chosen.erase(id.toStdString());
        refreshAll();
      });
    }
    m_boxes->layout()->addWidget(m_blocks);
  }
  for (const Run& run : runs.all()) {
    auto* box = m_boxes->findChild<QCheckBox*>(qs(run.id));
    if (box == nullptr) continue;
    const bool compared = &run == runs.comparedWith() || &run == runs.shown();
    box->setText(captionText(Runs::title(run)));
    box->setChecked(compared || m_chosen.count(run.id) > 0);
    offer(*box,
          compared ? QStringLiteral("It is one of the two runs that are compared, which are always there.") : QString(),
          QStringLiteral("A column for this run"));
  }
}

std::shared_ptr<CompareMatrix::Made> CompareMatrix::makeMatrix(const std::vector<RunSource>& sources, bool blocks) {
  auto made = std::make_shared<Made>();
  QString problem;
  std::vector<std::shared_ptr<const Artifact>> artifacts;  // keeps the artifacts alive to which the sides refer
  std::vector<ReportSide> sides;
  for (const RunSource& source : sources) {
    const auto artifact = source.artifact({});
    if (!artifact.ok()) {
      problem += QStringLiteral("✗ %1: %2 ").arg(Runs::title(*source.run), problemInWords(artifact.error()));
      continue;
    }
    artifacts.push_back(artifact.value());
    sides.push_back(source.side(*artifacts.back()));
  }
  made->matrix = runMatrix(sides);
  if (blocks) made->matrix = byModule(made->matrix);
  made->content = matrixContent(made->matrix);
  made->longest = longestTexts(made->content);
  made->summary = problem + matrixSummary(made->matrix);
  return made;
}

void CompareMatrix::renew(Parts parts) {
  renewBoxes();
  if ((parts & ~kTheme) == 0) return;
  std::vector<RunSource> sources;
  if (m_context.document.snapshot())
    for (const Run* run : columns()) sources.push_back(runSource(m_context, run));
  produce([sources, blocks = m_blocks->isChecked()] { return makeMatrix(sources, blocks); },
          [this](const std::shared_ptr<Made>& made) { showMade(made); });
}

void CompareMatrix::showMade(const std::shared_ptr<Made>& made) {
  discard(std::exchange(m_matrix, std::move(made->matrix)));
  m_longest = made->longest;
  m_summary->setText(made->summary);
  m_summary->setVisible(!m_summary->text().isEmpty());
  m_model.setContent(std::move(made->content));
  m_stack->showContent(m_model.rowCount() > 0);
  fitColumns();
}

/// The columns of runs get the width of their texts, and the column of nodes the rest.
void CompareMatrix::fitColumns() {
  QHeaderView& header = *m_view->horizontalHeader();
  int left = m_view->viewport()->width();
  for (int column = 1; column < m_model.columnCount(); ++column) {
    const int text = m_view->fontMetrics().horizontalAdvance(m_longest.value(column - 1)) + kCellMargins;
    const int width = std::clamp(std::max(text, header.sectionSizeHint(column)), kLeastRunColumn, kMostRunColumn);
    m_view->setColumnWidth(column, width);
    left -= width;
  }
  m_view->setColumnWidth(0, std::max(kLeastNodesColumn, left));
}

void CompareMatrix::resizeEvent(QResizeEvent* event) {
  Dock::resizeEvent(event);
  fitColumns();
}

void CompareMatrix::select(const QModelIndex& index) {
  const auto snapshot = m_context.document.snapshot();
  const int row = m_sorted.mapToSource(index).row();
  if (!snapshot || row < 0 || static_cast<std::size_t>(row) >= m_matrix.rows.size()) return;
  QStringList names;
  for (const std::string& node : m_matrix.rows[static_cast<std::size_t>(row)].nodes) names << qs(node);
  selectNamed(m_context.selection, *snapshot, names, this);
}

}  // namespace fusescope
