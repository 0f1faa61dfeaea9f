#include "ui/window/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDialog>
#include <QFileInfo>
#include <QJsonDocument>
#include <QSettings>
#include <QStatusBar>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "planning/fused_node_facts.h"
#include "ui/compare/two_views.h"
#include "ui/document/known_environments.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/ribbon/ribbon_accessible.h"
#include "ui/window/node_menu.h"

namespace fusescope {

namespace {

const QString kDocksKey = QStringLiteral("docks");
/// The largest size of a window manager's frame. The actual size is known only when the window is shown.
constexpr int kFrameWidth = 16, kFrameHeight = 48;

/// Makes the ribbon, whose bars are readable by screen readers.
Ribbon* newRibbon(const DockContext& context, GraphView& canvas) {
  makeRibbonsAccessible();
  return new Ribbon(context, canvas);
}

}  // namespace

MainWindow::MainWindow(ThemeKind theme, bool remember, QWidget* parent)
    : QMainWindow(parent),
      m_remember(remember),
      m_theme(theme),
      m_jobs(std::make_unique<JobRunner>()),
      m_document(std::make_unique<PlanDocument>(*m_jobs)),
      m_selection(std::make_unique<Selection>()),
      m_history(std::make_unique<SelectionHistory>(*m_selection, *m_document)),
      m_worker(std::make_unique<WorkerClient>()),
      m_runs(std::make_unique<Runs>(*m_document)),
      m_controller(std::make_unique<RunController>(*m_document, *m_runs, *m_worker, *m_jobs)),
      m_builder(std::make_unique<WorkerClient>()),
      m_builds(std::make_unique<BackgroundBuilds>(*m_document, *m_runs, *m_controller, *m_builder)),
      m_session(std::make_unique<SessionKeeper>(*m_document, *m_runs, *m_controller, *m_jobs)),
      m_fileDiff(std::make_unique<FileDiff>(*m_document, *m_runs, *m_jobs)),
      m_known(std::make_unique<KnownPlans>(*m_document, *m_runs, *m_builds, *m_jobs)),
      m_made(std::make_unique<ShownMade>(*m_document, *m_runs, *m_jobs, m_builds.get())),
      m_pages(new QStackedWidget),
      m_views(new QStackedWidget),
      m_start(new StartPage),
      m_canvas(new GraphView),
      m_ribbon(newRibbon(context(), *m_canvas)),
      m_twoViews(new TwoViews(context())),
      m_messages(new MessageBar),
      m_room(new Room([this]() -> const Theme& { return Theme::of(m_theme); })) {
  m_controller->startAfter(*m_builder);
  setWindowTitle(QStringLiteral("Fusescope"));
  setAcceptDrops(true);
  resize(1440, 900);
  applyTheme(*qApp, Theme::of(theme));
  m_canvas->setTheme(Theme::of(theme));
  m_ribbon->setTheme(Theme::of(theme));
  m_ribbon->hide();
  connect(m_ribbon, &Ribbon::hideRequested, this, [this] { showRibbon(false); });
  m_pages->addWidget(m_start);
  m_views->addWidget(m_canvas);
  m_views->addWidget(m_twoViews);
  m_room->column().addWidget(m_ribbon);
  m_room->column().addWidget(m_views, 1);
  m_room->setMain(m_canvas);
  m_pages->addWidget(m_room);
  auto* centre = new QWidget;
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_messages);
  column->addWidget(m_pages, 1);
  setCentralWidget(centre);
  setEnvironments(std::make_unique<Environments>());
  makeDocks();
  makeActions();
  makeStatusBar();
  connectDocument();
  connectCanvas();
  connectSession();
  connectTwoViews();
  m_actions->setTheme(Theme::of(theme));
  m_room->renewTheme();
  refreshSummary();
  if (m_remember) restoreGeometry(QSettings().value(QStringLiteral("geometry")).toByteArray());
}

MainWindow::~MainWindow() {
  // The stack destroys its commands, and the docks their widgets, while the document still exists.
  m_document->undoStack().disconnect();
  m_document->disconnect();
  m_selection->disconnect();
  m_runs->disconnect();
  m_controller->disconnect();
  m_builds->disconnect();
  m_session->disconnect();
  m_fileDiff->disconnect();
  m_known->disconnect();
  m_made->disconnect();
  // Pages and dialogs cancel their work while the objects that do it still exist.
  delete takeCentralWidget();
  qDeleteAll(findChildren<QDialog*>(QString(), Qt::FindDirectChildrenOnly));
}

DockContext MainWindow::context() {
  return {*m_document,
          *m_selection,
          *m_jobs,
          *m_runs,
          *m_controller,
          *m_fileDiff,
          *m_known,
          [this]() -> const Theme& { return Theme::of(m_theme); },
          [this](const char* action) { m_actions->find(QString::fromLatin1(action))->trigger(); },
          [this](const QPoint& place) { popUpNodeMenu(place); },
          [this](const QString& name) { m_canvas->toggle(name); }};
}

void MainWindow::fitInto(const QSize& screen) {
  const QSize around(kFrameWidth, kFrameHeight);
  resize(size().boundedTo(isMaximized() || isFullScreen() ? screen : screen - around));
}

void MainWindow::connectDocument() {
  connect(m_start, &StartPage::openRequested, this, &MainWindow::openFile);
  connect(m_start, &StartPage::browseRequested, this, &MainWindow::chooseFile);
  connect(m_document.get(), &PlanDocument::openingStarted, this, [this](const QString& path) {
    m_work->setText(QStringLiteral("Opening %1 … (Esc cancels)").arg(QFileInfo(path).fileName()));
    m_escape->setEnabled(true);
  });
  connect(m_document.get(), &PlanDocument::openingPhase, this,
          [this](const QString& phase) { m_work->setText(QStringLiteral("Opening: %1 … (Esc cancels)").arg(phase)); });
  connect(m_document.get(), &PlanDocument::openingEnded, this, [this] {
    m_work->clear();
    m_escape->setEnabled(m_document->planning());
  });
  connect(m_document.get(), &PlanDocument::openFailed, this, [this](const QString&, const QString& problem) {
    m_start->refresh();
    showProblem(QStringLiteral("This file cannot be opened"), problem);
  });
  connect(m_document.get(), &PlanDocument::modelChanged, this, &MainWindow::modelOpened);
  connect(m_document.get(), &PlanDocument::optionsChanged, this, [this] {
    m_work->setText(m_document->planning() ? QStringLiteral("Planning … (Esc cancels)") : QString());
    m_escape->setEnabled(m_document->planning());
    refreshSummary();
  });
  connect(m_document.get(), &PlanDocument::planChanged, this, &MainWindow::planArrived);
  connect(m_document.get(), &PlanDocument::planFailed, this, [this](const QString& problem) {
    m_lastProblem = problem;
    m_escape->setEnabled(false);
    m_work->setText(QStringLiteral("No plan: %1").arg(problem));
    showDock(QStringLiteral("Validation"));
  });
  connect(m_runs.get(), &Runs::shownChanged, this, &MainWindow::refreshTimes);
  connect(m_runs.get(), &Runs::runChanged, this, [this](const QString& id) {
    const Run* shown = m_runs->shown();
    if (shown != nullptr && qs(shown->id) == id &&
        (shown->time || !shown->evaluations.empty() || !shown->errors.empty()))
      refreshTimes();
  });
  connect(m_runs.get(), &Runs::settingsChanged, this, &MainWindow::refreshTimes);
  connect(m_selection.get(), &Selection::changed, this, &MainWindow::showSelectionOnCanvas);
}

void MainWindow::showRoom() {
  if (m_pages->currentWidget() == m_room) return;
  m_pages->setCurrentWidget(m_room);
  m_ribbon->show();
  if (m_remember) m_room->restore(QJsonDocument::fromJson(QSettings().value(kDocksKey).toByteArray()).object());
}

void MainWindow::planArrived() {
  m_work->clear();
  m_escape->setEnabled(false);
  m_canvas->setCover(m_document->snapshot()->cover, m_made->words(), m_document->snapshot()->modules);
  showSelectionOnCanvas(this);  // the selected nodes may be in other kernels now
  refreshTimes();
  refreshSummary();
  refreshTitle();
}

void MainWindow::refreshTimes() {
  m_canvas->setTimes(m_runs->layerTimes());
  m_canvas->setErrors(m_runs->layerErrors());
  const auto failure = m_runs->failure();
  m_canvas->setFailing(failure ? qs(failure->name) : QString());
}

void MainWindow::connectCanvas() {
  connect(m_canvas, &GraphView::selectionChanged, this, [this](const QStringList& names) {
    if (const auto snapshot = m_document->snapshot()) selectNamed(*m_selection, *snapshot, names, m_canvas);
  });
  connect(m_canvas, &GraphView::contextMenuRequested, this,
          [this](const QStringList&, const QPoint& place) { popUpNodeMenu(place); });
  connect(m_canvas, &GraphView::nodeActivated, this, [this] { showDock(QStringLiteral("Inspector")); });
  connect(m_canvas, &GraphView::layoutStarted, this, [this] { m_work->setText(QStringLiteral("Laying out …")); });
  connect(m_canvas, &GraphView::layoutFinished, this, [this] { m_work->clear(); });
  connect(m_canvas, &GraphView::layoutWarning, this, [this](const QString& text) { m_work->setText(text); });
  connect(m_canvas, &GraphView::searchChanged, this, [this](int current, int count) {
    m_searchCount->setText(m_search->text().isEmpty() ? QString()
                           : count == 0               ? QStringLiteral("no match")
                                                      : QStringLiteral("%1 of %2").arg(current + 1).arg(count));
    fitSearch();
  });
  m_canvas->setSummaryProvider([this](const QString& name) { return summaryOf(name); });
}

QString MainWindow::summaryOf(const QString& name) const {
  const auto snapshot = m_document->snapshot();
  if (!snapshot) return {};
  const auto& segments = snapshot->cover->segments;
  if (const auto found = std::ranges::find(segments, name.toStdString(), &Segment::name); found != segments.end())
    return QString::fromStdString(reasonText(snapshot->segmentFacts[found->id.index]));
  QStringList lines;
  const auto inside = snapshot->inside(name.toStdString());
  const PlanSnapshot& where = inside ? *inside->body : *snapshot;
  for (const std::uint32_t index : where.decisionsAbout(inside ? inside->place.name : name.toStdString())) {
    const Decision& decision = where.cover->decisions[index];
    if (decision.allowed && decision.kind != DecisionKind::Precision) continue;
    lines << (decision.allowed ? QStringLiteral("✓ ") : QStringLiteral("✗ ")) + inWindowWords(decision);
    if (lines.size() == 4) break;
  }
  return lines.join(QLatin1Char('\n'));
}

void MainWindow::showSelectionOnCanvas(const QObject* source) {
  const auto snapshot = m_document->snapshot();
  if (source == m_canvas || !snapshot) return;
  const auto& nodes = m_selection->nodes();
  QStringList names;
  if (!m_selection->inside().empty()) return m_canvas->select({qs(m_selection->inside())}, source != this);
  const FusedNode* fused = selectedKernel(*m_selection, *snapshot);
  const Segment* segment = snapshot->segmentOf(nodes);
  if (fused != nullptr && snapshot->isDrawn(*fused)) {
    names << qs(handleOf(*fused));
  } else if (segment != nullptr) {
    names << qs(segment->name);
  } else if (const std::string module = snapshot->moduleHandle(nodes); !module.empty()) {
    names << qs(module);
  } else {
    for (const std::string& name : m_document->namesOf(nodes)) names << qs(name);
  }
  m_canvas->select(names, source != this);
}

void MainWindow::showProblem(const QString& title, const QString& problem) {
  m_lastProblem = problem;
  m_work->setText(QStringLiteral("✗ ") + problem);
  // exec() is not used, because the session continues behind the message.
  auto* box = new QMessageBox(QMessageBox::Warning, title, problem, QMessageBox::Ok, this);
  box->setTextFormat(Qt::PlainText);
  box->setInformativeText(m_document->model() ? QStringLiteral("What was open is unchanged.") : QString());
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextInteractionFlags(Qt::TextSelectableByMouse);
  box->open();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!mayLeave()) return event->ignore();
  m_session->close();
  if (m_remember) {
    QSettings settings;
    settings.setValue(QStringLiteral("geometry"), saveGeometry());
    if (m_document->model())
      settings.setValue(kDocksKey, QJsonDocument(m_room->state()).toJson(QJsonDocument::Compact));
    settings.setValue(QStringLiteral("theme"),
                      m_theme == ThemeKind::Dark ? QStringLiteral("dark") : QStringLiteral("light"));
  }
  QMainWindow::closeEvent(event);
}

void MainWindow::setTheme(ThemeKind kind) {
  m_theme = kind;
  applyTheme(*qApp, Theme::of(kind));
  m_canvas->setTheme(Theme::of(kind));
  m_ribbon->setTheme(Theme::of(kind));
  m_twoViews->refreshTheme();
  // Icons are drawn again in the next turn of the event loop, because this takes as long as everything before.
  QMetaObject::invokeMethod(
      this,
      [this] {
        m_actions->setTheme(Theme::of(m_theme));
        m_room->renewTheme();
      },
      Qt::QueuedConnection);
  for (Dock* dock : m_docks) dock->refresh(Dock::kTheme);
}

void MainWindow::switchTheme() {
  setTheme(m_theme == ThemeKind::Dark ? ThemeKind::Light : ThemeKind::Dark);
}

}  // namespace fusescope
