#include "ui/docks/compare_dock.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>
#include <cmath>

#include "session/runs/run_comparison.h"
#include "ui/docks/copy_command.h"
#include "ui/document/qt_text.h"
#include "ui/models/contents.h"
#include "ui/widgets/name_combo_box.h"

namespace fusescope {
namespace {

/// Returns a text such as "B is 12.0 % faster (11.2 to 12.9 % over 5 turns)". It has no colour if not all turns agree
/// which is faster.
QString verdict(double ratio, const Range& range, int turns, const Theme& theme) {
  const auto percent = [](double of) { return QString::number(100 * std::abs(of - 1), 'f', 1); };
  const auto change = [&](double of) { return (of > 1 ? QStringLiteral("+") : QStringLiteral("−")) + percent(of); };
  if (!range.isSignificant(1))
    return QStringLiteral(
               "<span style='color:%1'>the difference is within the spread of %2 turns (B %3 to %4 %)</span>")
        .arg(theme.dimText.name(), QString::number(turns), change(range.least), change(range.most));
  const double nearest = ratio > 1 ? range.least : range.most, farthest = ratio > 1 ? range.most : range.least;
  return QStringLiteral("<span style='color:%1'><b>B is %2 % %3</b></span> (%4 to %5 % over %6 turns)")
      .arg((ratio > 1 ? theme.error : theme.success).name(), percent(ratio),
           ratio > 1 ? QStringLiteral("slower") : QStringLiteral("faster"), percent(nearest), percent(farthest),
           QString::number(turns));
}

}  // namespace

CompareDock::CompareDock(const DockContext& context)
    : Dock(context),
      m_a(new NameComboBox),
      m_b(new NameComboBox),
      m_compare(new QPushButton(QStringLiteral("Compare"))),
      m_summary(new QLabel),
      m_tabs(new QTabBar),
      m_pages(new QStackedWidget),
      m_matrix(new CompareMatrix(context)) {
  m_a->setToolTip(QStringLiteral("A: the run that B is compared with"));
  m_b->setToolTip(QStringLiteral("B: the run whose numbers are on screen"));
  m_a->setAccessibleName(QStringLiteral("Run A"));
  m_b->setAccessibleName(QStringLiteral("Run B"));
  for (QComboBox* chooser : {m_a, m_b}) {
    chooser->setMinimumContentsLength(16);
  }
  m_summary->setWordWrap(true);
  m_summary->setTextFormat(Qt::RichText);
  m_summary->setToolTip(
      QStringLiteral("The times that canvas and inspector show were measured separately for each run."));
  auto* copy = copyCommandButton(
      context, [this] { return compareCommandOf(m_context, m_context.runs.comparedWith(), m_context.runs.shown()); });
  auto* row = toolRow({m_a, m_b, m_compare, copy, m_summary}, this, 4);
  m_tabs->setExpanding(false);
  m_tabs->setDrawBase(false);
  for (const char* tab : {"Side by side", "Time by layer", "Values: B against A", "Values: B against f32"})
    m_tabs->addTab(QString::fromLatin1(tab));
  m_groups.setContent(compareContent(nullptr));
  m_errors.setContent(errorsContent(nullptr));
  m_pages->addWidget(m_matrix);
  m_pages->addWidget(makeView(m_groups, {0, 0, 100, 100, 120}));
  m_pages->addWidget(makeView(m_errors, {0, 90, 120, 120, 110}));
  m_stack = new HintStack(m_pages, QString());
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(row);
  layout->addWidget(m_tabs);
  layout->addWidget(m_stack, 1);
  auto& runs = context.runs;
  connect(m_a, qOverload<int>(&QComboBox::activated), this,
          [this, &runs] { runs.compareWith(m_a->currentData().toString().toStdString()); });
  connect(m_b, qOverload<int>(&QComboBox::activated), this,
          [this, &runs] { runs.show(m_b->currentData().toString().toStdString()); });
  connect(m_compare, &QPushButton::clicked, &context.controller, &RunController::compare);
  connect(m_tabs, &QTabBar::currentChanged, this, &CompareDock::refreshAll);
  connect(&runs, &Runs::runsChanged, this, &CompareDock::refreshAll);
  connect(&runs, &Runs::shownChanged, this, &CompareDock::refreshAll);
  connect(&context.controller, &RunController::activityChanged, this, [this] { refresh(kChoosers); });
  connect(&runs, &Runs::runChanged, this, [this](const QString& id) {
    const Run* run = m_context.runs.find(id.toStdString());
    if (run == nullptr || run->working()) return;
    if (run == m_context.runs.comparison() || (run == m_context.runs.shown() && !run->evaluations.empty()))
      refreshAll();
  });
}

QTableView* CompareDock::makeView(TableModel& model, const QList<int>& widths) {
  auto* sorted = new QSortFilterProxyModel(this);
  sorted->setSourceModel(&model);
  sorted->setSortRole(kSortRole);
  auto* view = new QTableView;
  view->setModel(sorted);
  view->setItemDelegate(new CellDelegate(m_context.theme, {}, view));
  view->setSelectionMode(QAbstractItemView::SingleSelection);
  styleTable(*view, widths, true);
  view->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  connect(view, &QTableView::clicked, this,
          [this](const QModelIndex& index) { goTo(m_context, index.data(kNameRole).toString(), this); });
  return view;
}

QString CompareDock::summaryText() const {
  const Theme& theme = m_context.theme();
  const Run* run = m_context.runs.comparison();
  if (run == nullptr) {
    const QString& problem = m_context.controller.problem();
    return problem.isEmpty()
               ? QString()
               : QStringLiteral("<span style='color:%1'>✗ %2</span>").arg(theme.error.name(), problem.toHtmlEscaped());
  }
  const RunComparison& compared = *run->comparison;
  QString text = QStringLiteral("A %1 · B %2").arg(msText(compared.aMs), msText(compared.bMs));
  if (compared.aMs && compared.bMs && *compared.aMs > 0 && compared.ratioRange) {
    text += QStringLiteral(" · ") +
            verdict(*compared.bMs / *compared.aMs, *compared.ratioRange, compared.turns, theme) +
            html(typesClause(compared.differences));
  } else if (compared.aMs && compared.bMs && !compared.notRanked.empty()) {
    text += QStringLiteral(" · <span style='color:%1'>which is faster is unknown: %2</span>")
                .arg(theme.warning.name(), html(compared.notRanked));
  } else {
    const std::string& why = compared.timeUnavailable;
    text += QStringLiteral(" · <span style='color:%1'>time unknown%2</span>")
                .arg(theme.warning.name(), why.empty() ? QString() : QStringLiteral(": ") + html(why));
  }
  if (const std::string differences = differencesText(compared.differences); !differences.empty())
    text += QStringLiteral(" · ") + html(differences);
  return text + QStringLiteral(" · <span style='color:%1'>timed in turns in run %2</span>")
                    .arg(theme.dimText.name(), qs(run->id));
}

void CompareDock::renewChoosers() {
  const auto& runs = m_context.runs;
  const auto fill = [&](QComboBox& chooser, const Run* chosen, const QString& tip) {
    const QSignalBlocker quiet(&chooser);
    chooser.clear();
    for (const Run& run : runs.all())
      if (run.hasEngine()) chooser.addItem(Runs::title(run), qs(run.id));
    chooser.setCurrentIndex(chosen == nullptr ? -1 : chooser.findData(qs(chosen->id)));
    offer(chooser, chooser.count() > 1 ? QString() : QStringLiteral("There must be two runs to compare."), tip);
  };
  fill(*m_a, runs.comparedWith(), QStringLiteral("A: the run that the displayed run is compared with"));
  fill(*m_b, runs.shown(), QStringLiteral("B: the run whose numbers are on screen"));
  const QString refusal = m_context.controller.compareRefusal();
  offer(*m_compare, refusal, QStringLiteral("Time the two runs in turns, and compare their values"));
}

void CompareDock::renew(Parts parts) {
  renewChoosers();
  if ((parts & ~kChoosers) == 0) return;
  const Run* comparison = m_context.runs.comparison();
  const auto compared = comparison == nullptr ? SharedOptional<RunComparison>() : comparison->comparison;
  const Run* shown = m_context.runs.shown();
  const int tab = m_tabs->currentIndex();
  m_pages->setCurrentIndex(std::min(tab, static_cast<int>(kValuesOfRuns)));
  m_matrix->refresh(parts & kTheme);
  m_summary->setText(summaryText());
  if ((parts & ~(kChoosers | kTheme)) == 0) return;
  m_stack->setHint(tab == kValuesOfF32
                       ? QStringLiteral("Evaluate the shown run to see what its types change against float32.")
                       : QStringLiteral("Choose two runs and compare them: they are timed in turns, and compared "
                                        "value by value."));
  SharedOptional<Evaluation> evaluation;
  if (shown != nullptr)
    for (const auto& kept : shown->evaluations)
      if (&*kept == m_context.runs.evaluation(*shown)) evaluation = kept;
  produce(
      [=] {
        const RunComparison* values = compared ? &*compared : nullptr;
        if (tab <= kTimes) return std::make_shared<TableContent>(compareContent(values));
        if (tab == kValuesOfRuns) return std::make_shared<TableContent>(errorsContent(values));
        return std::make_shared<TableContent>(evaluation ? errorsContent(evaluation->outputs, evaluation->values)
                                                         : errorsContent({}, {}));
      },
      [this, tab](const std::shared_ptr<TableContent>& content) {
        TableModel& model = tab <= kTimes ? m_groups : m_errors;
        model.setContent(std::move(*content));
        m_stack->showContent(tab == kMatrix || model.rowCount() > 0);
      });
}

extern const DockForm kCompareDock{"Compare", "Ctrl+7", Qt::BottomDockWidgetArea,
                                   [](const DockContext& context) -> Dock* { return new CompareDock(context); }};

}  // namespace fusescope
