#include "ui/docks/runs_dock.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QMenu>
#include <QScrollArea>
#include <QShortcut>
#include <QUrl>
#include <QVBoxLayout>
#include <utility>

#include "planning/same_plan_options.h"
#include "ui/docks/copy_command.h"
#include "ui/docks/inspector_html.h"
#include "ui/docks/run_html.h"
#include "ui/docks/serving_html.h"
#include "ui/document/qt_text.h"
#include "ui/models/run_contents.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/menu_title.h"

namespace fusescope {

namespace {

constexpr int kClockMs = 250;

QString inputsText(const RunSettings& settings) {
  if (settings.inputs.empty()) return QStringLiteral("⚠ Random inputs…");
  return QStringLiteral("Inputs: %1…").arg(qs(inWords(settings.inputs)));
}

QString settingsText(const RunSettings& settings) {
  QStringList parts{qs(inWords(settings.tolerance))};
  if (settings.backend != RunSettings().backend) parts << qs(settings.backend);
  if (settings.threads != 0) parts << plural(settings.threads, QStringLiteral("thread"));
  if (settings.errorsAgainst != RunSettings().errorsAgainst) parts << QStringLiteral("errors against f64");
  return parts.join(QStringLiteral(", ")) + QStringLiteral("…");
}

}  // namespace

RunsDock::RunsDock(const DockContext& context)
    : Dock(context),
      m_build(new QPushButton(QStringLiteral("Build"))),
      m_both(new QPushButton(QStringLiteral("Build both and compare"))),
      m_evaluate(new QPushButton(QStringLiteral("Evaluate"))),
      m_errors(new QPushButton(QStringLiteral("Errors of layers"))),
      m_restore(new QPushButton(QStringLiteral("Go back to its directives"))),
      m_cancel(new QPushButton(QStringLiteral("Cancel"))),
      m_inputs(new QPushButton),
      m_settings(new QPushButton),
      m_status(new ElidedLabel),
      m_details(new QLabel),
      m_view(new QTableView) {
  m_view->setModel(&m_model);
  m_view->setItemDelegate(new CellDelegate(context.theme, {}, m_view));
  m_view->setSelectionMode(QAbstractItemView::SingleSelection);
  m_view->setAccessibleName(QStringLiteral("Runs"));
  m_view->setContextMenuPolicy(Qt::CustomContextMenu);
  m_model.setContent(runsContent(context.runs));
  styleTable(*m_view, {30, 0, 90, 104, 90, 82, 104}, false);
  m_stack = new HintStack(m_view, QStringLiteral("Build the plan: the result is kept here as a run."));
  m_details->setTextFormat(Qt::RichText);
  m_details->setWordWrap(true);
  m_details->setMinimumWidth(1);  // so that the longest word does not determine the width
  m_details->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_details->setMargin(10);
  m_details->setTextInteractionFlags(Qt::TextBrowserInteraction);
  auto* scroll = new QScrollArea;
  scroll->setWidget(m_details);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* lower = new QHBoxLayout;
  lower->setSpacing(0);
  lower->addWidget(m_stack, 7);
  auto* side = new QVBoxLayout;
  side->setContentsMargins(8, 0, 8, 6);
  side->addWidget(scroll, 1);
  side->addWidget(m_restore, 0, Qt::AlignLeft);
  lower->addLayout(side, 5);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(makeTools());
  layout->addLayout(lower, 1);
  connect(m_details, &QLabel::linkActivated, this, [this](const QString& link) {
    goTo(m_context, QUrl::fromPercentEncoding(QUrl(link).path(QUrl::FullyEncoded).toUtf8()), this);
  });
  connect(m_view, &QTableView::doubleClicked, this, [this] {
    if (const Run* run = selected()) m_context.runs.show(run->id);
  });
  auto* lane = new QShortcut(QKeySequence(Qt::Key_L), m_view, nullptr, nullptr, Qt::WidgetShortcut);
  connect(lane, &QShortcut::activated, this, [this] {
    Runs& runs = m_context.runs;
    if (const Run* run = selected(); run != nullptr && runs.laneRefusal(*run).isEmpty())
      runs.setLane(run->id, !runs.isLane(run->id));
  });
  m_view->setToolTip(QStringLiteral("Press L to add a run to the ribbon as a lane, or to remove it"));
  connect(m_view, &QWidget::customContextMenuRequested, this, &RunsDock::popUpMenu);
  connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    m_shown = shownId();  // the user's selection is kept, whatever was displayed before
    renewDetails();
    renewTools();
  });
  connect(&context.runs, &Runs::runsChanged, this, &RunsDock::refreshAll);
  connect(&context.runs, &Runs::shownChanged, this, &RunsDock::refreshAll);
  connect(&context.runs, &Runs::runChanged, &m_clock, [this] {
    if (!m_clock.isActive()) refreshAll();  // otherwise the clock refreshes it while the worker works
  });
  connect(&context.runs, &Runs::settingsChanged, this, &RunsDock::refreshAll);
  connect(&context.controller, &RunController::activityChanged, this, &RunsDock::refreshAll);
  connect(&context.document, &PlanDocument::planChanged, this, &RunsDock::refreshAll);
  connect(&m_clock, &QTimer::timeout, this, [this] {
    if (!isVisible()) m_clock.stop();
    refreshAll();
  });
  m_clock.setInterval(kClockMs);
}

QWidget* RunsDock::makeTools() {
  auto& controller = m_context.controller;
  m_settings->setToolTip(QStringLiteral("The tolerance, and how runs are built and timed"));
  m_status->setForegroundRole(QPalette::PlaceholderText);
  m_status->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* row = toolRow({m_build, m_both, m_evaluate, m_errors, m_cancel, m_inputs, m_settings, m_status}, this, 7);
  connect(m_build, &QPushButton::clicked, &controller, &RunController::build);
  connect(m_both, &QPushButton::clicked, &controller, &RunController::buildBoth);
  connect(m_evaluate, &QPushButton::clicked, &controller, &RunController::evaluate);
  connect(m_errors, &QPushButton::clicked, this, [this] { m_context.act("errors"); });
  connect(m_cancel, &QPushButton::clicked, &controller, &RunController::cancel);
  connect(m_restore, &QPushButton::clicked, this, &RunsDock::goBack);
  connect(m_inputs, &QPushButton::clicked, this, [this] { m_context.act("inputs"); });
  connect(m_settings, &QPushButton::clicked, this, [this] { m_context.act("run_settings"); });
  return row;
}

const Run* RunsDock::selected() const {
  const QModelIndex index = m_view->currentIndex();
  const Run* run = index.isValid() ? m_context.runs.find(index.data(kNameRole).toString().toStdString()) : nullptr;
  return run != nullptr ? run : m_context.runs.shown();
}

void RunsDock::renew(Parts) {
  const bool busy = m_context.controller.busy();
  if (busy && isVisible() && !m_clock.isActive()) m_clock.start();
  if (!busy) m_clock.stop();
  renewTable();
  renewTools();
  renewDetails();
}

void RunsDock::renewTools() {
  const auto& controller = m_context.controller;
  const QString refusal = controller.buildRefusal();
  offer(*m_build, refusal, QStringLiteral("Build and time the present plan as a new run"));
  offer(*m_both, refusal,
        controller.planIsBaseline()
            ? QStringLiteral("The plan on screen is the baseline itself: it is built once, and evaluated")
            : QStringLiteral("The plan beside the same model in float32 without directives: builds what is "
                             "not there yet, evaluates it and compares both"));
  offer(*m_evaluate, controller.evaluateRefusal(),
        QStringLiteral("Measures the errors of the displayed run's types against float32, on the reference backend: "
                       "whether it passes, and where it goes wrong"));
  offer(*m_errors, controller.errorsRefusal(),
        QStringLiteral("Measures the local and the carried error of each layer against float32, or float64 as the "
                       "settings say: this distinguishes culprits from victims"));
  const Run* run = selected();
  const QString restore = run == nullptr ? QStringLiteral("There is no run yet.") : restoreRefusal(*run);
  offer(*m_restore, restore,
        restore.isEmpty() ? QStringLiteral("Plan with the directives of %1 again; undo restores the present ones")
                                .arg(Runs::title(*run))
                          : QString());
  offer(*m_cancel, controller.busy() ? QString() : QStringLiteral("Nothing is under way."),
        QStringLiteral("Stop what is under way"));
  m_inputs->setText(inputsText(m_context.runs.settings()));
  offer(*m_inputs, m_context.document.snapshot() ? QString() : QStringLiteral("Open a model first."),
        QStringLiteral("The inputs on which runs are timed and evaluated"));
  m_settings->setText(settingsText(m_context.runs.settings()));
  const QString status = controller.busy() ? QStringLiteral("%1 s  %2")
                                                 .arg(static_cast<double>(controller.elapsedMs()) / 1000, 0, 'f', 1)
                                                 .arg(controller.activity())
                         : !controller.problem().isEmpty() ? QStringLiteral("✗ ") + controller.problem()
                         : !refusal.isEmpty()              ? refusal
                                                           : controller.notice();
  m_status->setText(status);
  m_status->setToolTip(tipText(status));
}

std::string RunsDock::shownId() const {
  const Run* shown = m_context.runs.shown();
  return shown == nullptr ? std::string() : shown->id;
}

/// Selects the run that was just displayed, unless the selected comparison has displayed it. Otherwise the selection is
/// kept.
void RunsDock::renewTable() {
  const Runs& runs = m_context.runs;
  const std::string shown = shownId();
  QString current = m_view->currentIndex().data(kNameRole).toString();
  const bool broughtIt = runs.comparison() != nullptr && qs(runs.comparison()->id) == current;
  const bool comes = std::exchange(m_shown, shown) != shown && !broughtIt;
  if (comes) current = qs(shown);
  const QSignalBlocker quiet(m_view->selectionModel());
  m_model.setContent(runsContent(runs));
  for (int row = 0; row < m_model.rowCount(); ++row) {
    if (m_model.index(row, 0).data(kNameRole).toString() != current) continue;
    m_view->selectRow(row);
    if (comes) m_view->scrollTo(m_view->currentIndex());
  }
  m_stack->showContent(m_model.rowCount() > 0);
}

/// Describes whose numbers are on screen and how they are marked, unless they are simply the numbers of `run`.
QString RunsDock::onScreenText(const Run& run) const {
  const Run* shown = m_context.runs.shown();
  if (!run.hasEngine() || shown == nullptr) return {};
  const bool other = !m_context.runs.ofThisPlan(*shown);
  if (shown == &run)
    return other ? QStringLiteral("The plan on screen is another one: there, these numbers are in brackets.")
                 : QString();
  return QStringLiteral("On screen are the numbers of %1%2.")
      .arg(Runs::title(*shown).toHtmlEscaped(),
           other ? QStringLiteral(", in brackets: the plan there is another one") : QString());
}

QString RunsDock::detailsText(const Run& run) const {
  const Theme& theme = m_context.theme();
  const Runs& runs = m_context.runs;
  QString text = QStringLiteral("<p style='margin:0 0 4px 0'><b>%1</b></p>").arg(Runs::title(run).toHtmlEscaped());
  text += run.comparison ? comparisonHtml(runs, run, theme) : verdictHtml(runs, run, theme) + timeHtml(run, theme);
  if (const QString onScreen = onScreenText(run); !onScreen.isEmpty())
    text += QStringLiteral("<p style='color:%1; margin:4px 0'>%2</p>").arg(theme.dimText.name(), onScreen);
  if (!run.problem.empty() && run.state != RunState::Ready)
    text += QStringLiteral("<p style='color:%1; margin:4px 0'>✗ %2</p>").arg(theme.error.name(), html(run.problem));
  return text + servingHtml(run, theme) + insideHtml(runs, run, theme) + evaluationsHtml(runs, run, theme) +
         phasesHtml(run, theme) + originHtml(run, theme);
}

void RunsDock::renewDetails() {
  const Run* run = selected();
  m_details->setText(run == nullptr ? QString() : detailsText(*run));
}

QString RunsDock::restoreRefusal(const Run& run) const {
  if (!m_context.document.snapshot()) return QStringLiteral("Open a model first.");
  if (!run.hasEngine()) return QStringLiteral("A comparison has no directives of its own.");
  if (askForSamePlan(run.options, m_context.document.options()))
    return QStringLiteral("The plan has these directives already.");
  if (!(run.extents == m_context.document.inputs()))
    return QStringLiteral("It was made for other extents of the inputs.");
  return {};
}

void RunsDock::goBack() {
  const Run* run = selected();
  if (run == nullptr || !restoreRefusal(*run).isEmpty()) return;
  m_context.document.edit(QStringLiteral("Go back to the directives of %1").arg(Runs::title(*run)), run->options);
}

void RunsDock::popUpMenu(const QPoint& place) {
  const QModelIndex index = m_view->indexAt(place);
  if (!index.isValid()) return;
  m_view->selectRow(index.row());
  const std::string id = index.data(kNameRole).toString().toStdString();
  Runs& runs = m_context.runs;
  QMenu menu;
  menu.setToolTipsVisible(true);
  addMenuTitle(menu, Runs::title(*runs.find(id)));
  menu.addAction(QStringLiteral("Show"), this, [&runs, id] { runs.show(id); });
  const bool hasEngine = runs.find(id)->hasEngine();
  QAction* compare = menu.addAction(QStringLiteral("Compare the shown run with this one"), this, [this, id] {
    m_context.runs.compareWith(id);
    m_context.act("compare");
  });
  QAction* lane = menu.addAction(QStringLiteral("A lane of the ribbon"), this,
                                 [&runs, id](bool shown) { runs.setLane(id, shown); });
  lane->setObjectName(QStringLiteral("lane"));
  lane->setShortcut(Qt::Key_L);
  lane->setCheckable(true);
  lane->setChecked(runs.isLane(id));
  const QString laneRefusal = runs.laneRefusal(*runs.find(id));
  lane->setEnabled(laneRefusal.isEmpty());
  lane->setToolTip(tipText(laneRefusal));
  const QString refusal = hasEngine ? m_context.controller.compareRefusal(runs.find(id), runs.shown())
                                    : QStringLiteral("A comparison has no engine that could be compared.");
  compare->setEnabled(refusal.isEmpty());
  compare->setToolTip(tipText(refusal));
  QAction* restore = menu.addAction(QStringLiteral("Go back to its directives"), this, &RunsDock::goBack);
  restore->setEnabled(m_restore->isEnabled());
  restore->setToolTip(m_restore->toolTip());
  menu.addAction(QStringLiteral("Copy as command"), this, [this, id] {
    if (const Run* run = m_context.runs.find(id)) copyCommand(m_context, *this, runCommandOf(m_context, *run));
  });
  menu.addSeparator();
  menu.addAction(QStringLiteral("Rename…"), this, [this, id] {
    const Run* run = m_context.runs.find(id);
    bool accepted = false;
    const QString name = QInputDialog::getText(this, QStringLiteral("Rename the run"), QStringLiteral("Name"),
                                               QLineEdit::Normal, qs(run->name), &accepted);
    if (accepted) m_context.runs.rename(id, name);
  });
  const std::int64_t comparisons = runs.comparisonsOf(id);
  const QString what = comparisons == 0 || !hasEngine
                           ? QStringLiteral("Delete")
                           : QStringLiteral("Delete, with %1").arg(plural(comparisons, QStringLiteral("comparison")));
  QAction* remove = menu.addAction(what, this, [&runs, id] { runs.remove(id); });
  remove->setEnabled(!m_context.controller.busy());
  if (!remove->isEnabled())
    remove->setToolTip(QStringLiteral("The worker is busy; runs can be deleted when it is done."));
  menu.exec(m_view->viewport()->mapToGlobal(place));
}

extern const DockForm kRunsDock{"Runs", "Ctrl+5", Qt::BottomDockWidgetArea,
                                [](const DockContext& context) -> Dock* { return new RunsDock(context); }};

}  // namespace fusescope
