#include "ui/docks/validation_dock.h"

#include <QFileInfo>
#include <QHeaderView>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

#include "base/quantities.h"
#include "session/runs/verdict.h"
#include "ui/docks/run_html.h"
#include "ui/document/qt_text.h"
#include "ui/models/contents.h"
#include "ui/models/validation_contents.h"

namespace fusescope {

namespace {

constexpr DecisionFilter kFilters[] = {DecisionFilter::Answers, DecisionFilter::New, DecisionFilter::Verdicts,
                                       DecisionFilter::Fusions, DecisionFilter::All};
/// The tabs of decisions in the order of kFilters, followed by the other tabs.
constexpr const char* kTabNames[] = {"Answers", "Last edit", "Verdicts", "Fusions",
                                     "All",     "Casts",     "Samples",  "Against a file"};
constexpr int kCastsTab = 5, kSamplesTab = 6, kDifferencesTab = 7, kFirstPage = kCastsTab - 1;

QString few(const std::vector<std::string>& names) {
  QStringList shown;
  for (std::size_t i = 0; i < names.size() && i < 3; ++i) shown << html(names[i]);
  if (names.size() > 3) shown << QStringLiteral("%1 more").arg(names.size() - 3);
  return shown.join(QStringLiteral("; "));
}

}  // namespace

QString deltaText(const PlanDelta& delta) {
  if (!delta.comparable) return {};
  if (delta.nothing()) return QStringLiteral("nothing in the plan changed");
  QStringList parts;
  const auto list = [&](const std::vector<std::string>& names, const QString& what) {
    if (!names.empty())
      parts << QStringLiteral("<b>%1 %2</b> (%3)")
                   .arg(plural(static_cast<std::int64_t>(names.size()), what.section(' ', 0, 0)), what.section(' ', 1),
                        few(names));
  };
  list(delta.fusionsLost, QStringLiteral("fusion lost"));
  list(delta.fusionsGained, QStringLiteral("fusion gained"));
  list(delta.castsAdded, QStringLiteral("cast added"));
  list(delta.castsRemoved, QStringLiteral("cast removed"));
  list(delta.retyped, QStringLiteral("node retyped"));
  if (delta.segments != 0) parts << qs(inCountDifference(delta.segments, "segment"));
  if (delta.bytes != 0) parts << QStringLiteral("kernels move ") + qs(inBytesDifference(delta.bytes));
  if (delta.castBytes != 0) parts << QStringLiteral("casts move ") + qs(inBytesDifference(delta.castBytes));
  if (parts.isEmpty())
    parts << plural(static_cast<std::int64_t>(delta.newAnswers.size()), QStringLiteral("new answer"));
  return parts.join(QStringLiteral(" · "));
}

ValidationDock::ValidationDock(const DockContext& context)
    : Dock(context), m_summary(new QLabel), m_tabs(new QTabBar), m_pages(new QStackedWidget) {
  m_summary->setWordWrap(true);
  m_summary->setTextFormat(Qt::RichText);
  m_summary->setContentsMargins(10, 6, 10, 2);
  m_tabs->setExpanding(false);
  m_tabs->setDrawBase(false);
  for (const char* tab : kTabNames) m_tabs->addTab(QString::fromLatin1(tab));
  m_casts.setContent({{"Value", "From", "To", "Between", "Bytes", "Why"}, {}, {}});
  m_samples.setContent(verdictsContent(nullptr, {}));
  m_differences.setContent(differencesContent(nullptr));
  makeView(m_decisions, {}, {86, 140, 0, 110})->setAccessibleName(QStringLiteral("Verdicts"));
  makeView(m_casts, {1, 2}, {190, 70, 70, 0, 90, 130})->setAccessibleName(QStringLiteral("Casts"));
  makeView(m_samples, {}, {0, 90, 0, 130, 164})->setAccessibleName(QStringLiteral("Samples"));
  makeView(m_differences, {}, {160, 0, 0, 0, 0})->setAccessibleName(QStringLiteral("Differences"));
  m_stack = new HintStack(m_pages, QStringLiteral("Open a model to see its verdicts."));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(m_summary);
  layout->addWidget(m_tabs);
  layout->addWidget(m_stack, 1);
  connect(m_tabs, &QTabBar::currentChanged, this, &ValidationDock::showTab);
  connect(m_summary, &QLabel::linkActivated, this, &ValidationDock::follow);
  connect(&context.document, &PlanDocument::planChanged, this, &ValidationDock::refreshAll);
  connect(&context.document, &PlanDocument::planFailed, this, &ValidationDock::refreshAll);
  connect(&context.runs, &Runs::shownChanged, this, &ValidationDock::refreshAll);
  connect(&context.runs, &Runs::settingsChanged, this, &ValidationDock::refreshAll);
  connect(&context.runs, &Runs::runChanged, this, [this](const QString& id) {
    if (const Run* shown = shownRun(id); shown != nullptr && !shown->working()) refreshAll();
  });
  connect(&context.fileDiff, &FileDiff::changed, this, [this] {
    if (m_context.fileDiff.busy()) m_tabs->setCurrentIndex(kDifferencesTab);
    refreshAll();
  });
}

QTableView* ValidationDock::makeView(QAbstractItemModel& model, const QSet<int>& typeColumns,
                                     const QList<int>& widths) {
  auto* view = new QTableView;
  view->setModel(&model);
  view->setItemDelegate(new CellDelegate(m_context.theme, typeColumns, view));
  view->setSelectionMode(QAbstractItemView::SingleSelection);
  styleTable(*view, widths, false);
  wrapRows(*view);
  m_pages->addWidget(view);
  const auto toRow = [this](const QModelIndex& index) { goTo(m_context, index.data(kNameRole).toString(), this); };
  connect(view, &QTableView::clicked, this, toRow);
  connect(view, &QTableView::activated, this, toRow);
  return view;
}

/// Returns, each on a line, the verdict of the displayed run, the effect of the last edit, and the differences from a
/// file.
QString ValidationDock::summaryText() const {
  const Run* run = m_context.runs.shown();
  const bool judged = run != nullptr && m_context.document.snapshot() && !run->evaluations.empty();
  QStringList lines;
  if (judged) lines << verdictLineHtml(m_context.runs, *run, m_context.theme());
  for (const QString& line : {fileText(), editText()})
    if (!line.isEmpty()) lines << QStringLiteral("<div>%1</div>").arg(line);
  return lines.join(QString());
}

QString ValidationDock::editText() const {
  const Theme& theme = m_context.theme();
  if (!m_context.document.planProblem().isEmpty()) {
    return QStringLiteral(
               "<span style='color:%1'><b>No plan:</b> %2 What you see is the plan before; undo with Ctrl+Z.</span>")
        .arg(theme.error.name(), m_context.document.planProblem().toHtmlEscaped());
  }
  const auto snapshot = m_context.document.snapshot();
  if (!snapshot) return {};
  const int refused = static_cast<int>(obeyRefusals(*snapshot->plan).size());
  QString text;
  if (refused > 0) {
    text = QStringLiteral("<span style='color:%1'><b>✗ %2 refused.</b></span> ")
               .arg(theme.error.name(), plural(refused, "directive marked obey is", "directives marked obey are"));
  }
  const QString delta = deltaText(snapshot->delta);
  if (!delta.isEmpty()) return text + QStringLiteral("Last edit: ") + delta;
  if (snapshot->delta.ofAnotherNetwork)
    return text + QStringLiteral("Last edit: its effect on the plan is unknown, because it made another network.");
  return text + QStringLiteral("<span style='color:%1'>Pin a node to see the effect of the pin here.</span>")
                    .arg(theme.dimText.name());
}

QString ValidationDock::fileText() const {
  const Theme& theme = m_context.theme();
  const FileDiff& files = m_context.fileDiff;
  if (files.path().isEmpty()) return {};
  const QString close = QStringLiteral(" · <a href='do:close'>close</a>");
  const QString against = QStringLiteral("Against %1: ").arg(QFileInfo(files.path()).fileName().toHtmlEscaped());
  if (files.busy()) return against + QStringLiteral("comparing …") + close;
  if (!files.problem().isEmpty())
    return against +
           QStringLiteral("<span style='color:%1'>✗ %2</span>")
               .arg(theme.error.name(), files.problem().toHtmlEscaped()) +
           close;
  const auto compared = files.compared();
  if (!compared) return {};
  QString text =
      against + (compared->diff.same() ? QStringLiteral("the plans are the same") : deltaText(compared->delta));
  if (!compared->droppedDirectives.empty())
    text += QStringLiteral(" <span style='color:%1'>⚠ %2</span>")
                .arg(theme.warning.name(), html(compared->droppedDirectives));
  return text + close;
}

void ValidationDock::follow(const QString& link) {
  if (link == QLatin1String("do:close")) return m_context.fileDiff.close();
  goTo(m_context, QUrl::fromPercentEncoding(QUrl(link).path(QUrl::FullyEncoded).toUtf8()), this);
}

void ValidationDock::retitleTabs() {
  const auto snapshot = m_context.document.snapshot();
  if (!snapshot) return;
  const auto retitle = [this](int tab, int rows) {
    const QString name = QString::fromLatin1(kTabNames[tab]);
    m_tabs->setTabText(tab, rows == 0 ? name : QStringLiteral("%1  %2").arg(name).arg(rows));
  };
  for (int tab = 0; tab < kCastsTab; ++tab) retitle(tab, DecisionsModel::countOf(*snapshot, kFilters[tab]));
  retitle(kCastsTab, m_casts.rowCount());
  retitle(kSamplesTab, m_samples.rowCount());
  retitle(kDifferencesTab, m_differences.rowCount());
}

void ValidationDock::renew(Parts parts) {
  if (parts == kTheme) return m_summary->setText(summaryText());
  const auto snapshot = m_context.document.snapshot();
  const Run* run = m_context.runs.shown();
  m_decisions.setSnapshot(snapshot);
  if (snapshot) m_casts.setContent(castsContent(*snapshot));
  m_samples.setContent(
      verdictsContent(run == nullptr ? nullptr : m_context.runs.evaluation(*run), m_context.runs.settings().tolerance));
  const auto compared = m_context.fileDiff.compared();
  m_differences.setContent(differencesContent(compared.get()));
  retitleTabs();
  m_summary->setText(summaryText());
  showTab(m_tabs->currentIndex());
}

QString ValidationDock::lastEditHint() const {
  const PlanDelta& delta = m_context.document.snapshot()->delta;
  if (delta.ofAnotherNetwork)
    return QStringLiteral("The last edit made another network: all answers are new. They are in the other tabs.");
  return delta.comparable ? QStringLiteral("The last edit brought no new answer.")
                          : QStringLiteral("Nothing has been edited yet.");
}

QString ValidationDock::hintOf(int tab) const {
  switch (tab) {
    case kCastsTab:
      return QStringLiteral("The plan needs no casts.");
    case kSamplesTab:
      return QStringLiteral("Evaluate the shown run (F8): each sample of its inputs passes or fails here.");
    case kDifferencesTab:
      return m_context.fileDiff.busy()             ? QStringLiteral("Comparing …")
             : m_context.fileDiff.path().isEmpty() ? QStringLiteral("Compare the plan with a file: Build, Ctrl+D.")
             : m_context.fileDiff.problem().isEmpty()
                 ? QStringLiteral("Nothing differs.")
                 : QStringLiteral("The file cannot be compared: %1").arg(m_context.fileDiff.problem());
    case 1:
      return lastEditHint();
    default:
      return QStringLiteral("Nothing was refused, and nothing has been asked for yet. Pin a node to get an answer.");
  }
}

void ValidationDock::showTab(int tab) {
  if (tab < kCastsTab && m_decisions.filter() != kFilters[tab]) m_decisions.setFilter(kFilters[tab]);
  m_pages->setCurrentIndex(std::max(0, tab - kFirstPage));
  const bool model = m_context.document.snapshot() != nullptr;
  m_stack->setHint(model ? hintOf(tab) : QStringLiteral("Open a model to see its verdicts."));
  const auto* view = static_cast<const QTableView*>(m_pages->currentWidget());
  m_stack->showContent(model && view->model()->rowCount() > 0);
}

extern const DockForm kValidationDock{"Validation", "Ctrl+4", Qt::BottomDockWidgetArea,
                                      [](const DockContext& context) -> Dock* { return new ValidationDock(context); }};

}  // namespace fusescope
