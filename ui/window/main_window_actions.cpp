#include <QAction>
#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenuBar>
#include <QResizeEvent>
#include <QSettings>
#include <QShortcut>
#include <QStatusBar>

#include "base/files.h"
#include "diff/truncation_diff.h"
#include "planning/directives_file.h"
#include "planning/types/pin_choices.h"
#include "session/options_json.h"
#include "ui/canvas/color_mode.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/dialogs/goto_dialog.h"
#include "ui/dialogs/keys_dialog.h"
#include "ui/dialogs/pattern_dialog.h"
#include "ui/dialogs/truncation_dialog.h"
#include "ui/docks/layers_dock.h"
#include "ui/document/made_words.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/common_widgets.h"
#include "ui/widgets/elided_label.h"
#include "ui/window/breadcrumb.h"
#include "ui/window/compact_tool_bar.h"
#include "ui/window/fact_line.h"
#include "ui/window/main_window.h"
#include "ui/window/node_menu.h"

namespace fusescope {

namespace {

constexpr int kSearchWidth = 230, kLeastSearch = 90;
/// The space that the corner of the menu bar keeps free beside the search field and its count.
constexpr int kBesideMenus = 24;
constexpr int kBesideCount = 6;
constexpr int kToolBarHeight = 36;

/// Returns the parts of the count in the status bar, such as "85 kernels: 61 of onnxruntime with nodes of the network,
/// …".
QString kernelCountsText(const ReadBackPlan& made) {
  std::int64_t withNodes = 0, ours = 0;
  for (const FusedNode& fused : made.fusedNodes) {
    if (made.kernels[fused.id.index].isOurs)
      ++ours;
    else if (!fused.nodes.empty())
      ++withNodes;
  }
  const auto all = static_cast<std::int64_t>(made.fusedNodes.size()), without = all - withNodes - ours;
  QString text = QStringLiteral("%1: %2 of %3 with nodes of the network")
                     .arg(plural(all, QStringLiteral("kernel")))
                     .arg(withNodes)
                     .arg(compilerTitle(made.compiler));
  if (without > 0) text += QStringLiteral(", %1 of it without, which move or prepare something").arg(without);
  if (ours > 0) text += QStringLiteral(", %1 of our own engine, for what falls back").arg(ours);
  for (const Decision& decision : made.decisions)
    if (decision.code == "partition.equal_segments") text += QStringLiteral("; ") + qs(message(decision));
  return text + QLatin1Char('.');
}

}  // namespace

/// The search field gets the width that the menus leave. Its count is hidden before the field becomes too short.
void MainWindow::fitSearch() {
  int menus = 0;
  for (QAction* menu : menuBar()->actions()) menus += menuBar()->actionGeometry(menu).width();
  const int left = width() - menus - kBesideMenus, count = m_searchCount->sizeHint().width() + kBesideCount;
  const bool counts = !m_searchCount->text().isEmpty() && left - count >= kLeastSearch;
  m_searchCount->setVisible(counts);
  m_search->setFixedWidth(std::clamp(left - (counts ? count : 0), kLeastSearch, kSearchWidth));
  QWidget* corner = m_search->parentWidget();
  if (corner->size() == corner->sizeHint() && corner->geometry().right() < menuBar()->width()) return;
  corner->adjustSize();
  // The menu bar places its corner widget again only when it is resized.
  QResizeEvent asItIs(menuBar()->size(), menuBar()->size());
  QCoreApplication::sendEvent(menuBar(), &asItIs);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  fitSearch();
}

void MainWindow::makeActions() {
  m_actions = new Actions(*this, *menuBar(), [this] { return context(); });
  QMenu* docks = m_actions->menu("&View/&Docks");
  for (int i = 0; i < m_docks.size(); ++i) {
    QAction* action = dockAction(m_docks[i], *dockForms()[static_cast<std::size_t>(i)]);
    docks->addAction(action);
    m_actions->add(action);
  }
  for (const auto& [side, name] :
       {std::pair{Qt::LeftDockWidgetArea, "fold_left"}, {Qt::RightDockWidgetArea, "fold_right"}})
    m_room->area(side).setKeys(
        m_actions->find(QString::fromLatin1(name))->shortcut().toString(QKeySequence::NativeText));
  makeChoices();
  makeToolBar();
  makeKeys();
  const auto refresh = [this] { m_actions->refresh(); };
  connect(m_document.get(), &PlanDocument::openingStarted, m_actions, refresh);
  connect(m_document.get(), &PlanDocument::openingEnded, m_actions, refresh);
  connect(m_document.get(), &PlanDocument::planChanged, m_actions, refresh);
  connect(m_document.get(), &PlanDocument::optionsChanged, m_actions, refresh);
  connect(m_document.get(), &PlanDocument::calibratedChanged, this, &MainWindow::refreshPrecisions);
  connect(&m_document->undoStack(), &QUndoStack::indexChanged, m_actions, refresh);
  connect(m_selection.get(), &Selection::changed, m_actions, refresh);
  connect(m_runs.get(), &Runs::runsChanged, m_actions, refresh);
  connect(m_runs.get(), &Runs::shownChanged, m_actions, refresh);
  connect(m_runs.get(), &Runs::settingsChanged, m_actions, refresh);
  connect(m_controller.get(), &RunController::activityChanged, m_actions, refresh);
  connect(m_controller.get(), &RunController::activityChanged, this, &MainWindow::showActivity);
  connect(m_builds.get(), &BackgroundBuilds::changed, m_actions, refresh);
  connect(m_room, &Room::frontChanged, this, &MainWindow::clearSeenMark);
  connect(m_canvas, &GraphView::shownOnlyChanged, m_actions, refresh);
  connect(m_canvas, &GraphView::layoutFinished, m_actions, refresh);  // the legend has appeared or disappeared
  m_actions->refresh();
}

void MainWindow::makeToolBar() {
  auto* bar = new CompactToolBar(QStringLiteral("Tools"));
  addToolBar(bar);
  bar->setObjectName(QStringLiteral("toolbar"));
  bar->setMovable(false);
  bar->setFixedHeight(kToolBarHeight);
  bar->setIconSize(QSize(18, 18));
  bar->addActions(m_actions->ofTool(ToolGroup::Document));
  bar->addSeparator();
  bar->addLabelled(QStringLiteral("Target"), m_target);
  bar->addLabelled(QStringLiteral("Precision"), m_precision);
  bar->addSeparator();
  for (QAction* action : m_actions->ofTool(ToolGroup::Run)) bar->addWorded(action, action->iconText());
  bar->addSeparator();
  bar->addLabelled(QStringLiteral("Colour"), m_color);
  bar->addActions(m_actions->ofTool(ToolGroup::Canvas));
  auto* space = new QWidget;
  space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  bar->addWidget(space);
  bar->addActions(m_actions->ofTool(ToolGroup::Window));
  // The search field is in the menu bar, where it is visible at every width of the window.
  auto* corner = new QWidget;
  auto* row = new QHBoxLayout(corner);
  row->setContentsMargins(0, 0, 6, 0);
  row->setSpacing(kBesideCount);
  row->addWidget(m_searchCount);
  row->addWidget(m_search);
  menuBar()->setNativeMenuBar(false);
  menuBar()->setCornerWidget(corner);
}

/// Makes the choices in the tool bar.
void MainWindow::makeChoices() {
  m_target = new QComboBox;
  for (const std::string& target : targetNames()) m_target->addItem(qs(target));
  m_target->setToolTip(QStringLiteral("The target of the plan. Engines are built for cpu."));
  m_precision = new QComboBox;
  m_color = new QComboBox;
  for (const ColorMode* mode : colorModes())
    m_color->addItem(QString::fromLatin1(mode->name.data(), static_cast<int>(mode->name.size())));
  m_search = new QLineEdit;
  m_search->setPlaceholderText(QStringLiteral("Find nodes, tensors (Ctrl+F)"));
  m_search->setClearButtonEnabled(true);
  m_search->setFixedWidth(kSearchWidth);
  m_searchCount = new QLabel;
  m_searchCount->setForegroundRole(QPalette::PlaceholderText);
  connect(m_target, &QComboBox::textActivated, this,
          [this](const QString& target) { m_document->setTarget(target.toStdString()); });
  connect(m_precision, qOverload<int>(&QComboBox::activated), this,
          [this](int i) { m_document->setPrecisions(m_precision->itemData(i).value<Precisions>()); });
  connect(m_color, qOverload<int>(&QComboBox::currentIndexChanged), this,
          [this](int mode) { m_canvas->setColorMode(*colorModes()[static_cast<std::size_t>(mode)]); });
  connect(m_canvas, &GraphView::colorModeChanged, this, [this] {
    const auto& modes = colorModes();
    const auto chosen = std::find(modes.begin(), modes.end(), &m_canvas->colorMode());
    m_color->setCurrentIndex(static_cast<int>(chosen - modes.begin()));
  });
  connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
    const int count = m_canvas->search(text);
    m_searchCount->setText(text.isEmpty() ? QString()
                           : count == 0   ? QStringLiteral("no match")
                                          : plural(count, QStringLiteral("match"), QStringLiteral("matches")));
    fitSearch();
  });
  connect(m_search, &QLineEdit::returnPressed, m_canvas, &GraphView::nextMatch);
}

void MainWindow::makeStatusBar() {
  m_status = new QLabel;
  m_status->setTextFormat(Qt::PlainText);
  m_work = new ElidedLabel;
  m_status->setContentsMargins(8, 0, 8, 0);
  m_work->setContentsMargins(8, 0, 8, 0);
  m_work->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  statusBar()->addWidget(new Breadcrumb(context()));
  m_activity = new ElidedLabel;
  m_activity->setObjectName(QStringLiteral("activity"));
  m_activity->setContentsMargins(8, 0, 8, 0);
  statusBar()->addWidget(m_activity);
  statusBar()->addWidget(m_work, 1);
  m_fact = new FactLine(*m_document, *m_controller, *m_builds);
  connect(m_fact, &FactLine::differencesWanted, this, &MainWindow::compareWithPrediction);
  connect(m_fact, &FactLine::timesWanted, this, [this] { showDock(QStringLiteral("Layers")); });
  connect(m_fact, &FactLine::problemWanted, this,
          [this](const QString& problem) { showProblem(QStringLiteral("The plan was not built"), problem); });
  statusBar()->addPermanentWidget(m_fact);
  statusBar()->addPermanentWidget(m_status);
}

/// Fills in the possible precisions, and those of the plan, because a file may contain others.
void MainWindow::refreshPrecisions() {
  const bool int8 = m_document->ranges() != nullptr;
  std::vector<Precisions> choices = precisionChoices();
  const Precisions& now = m_document->options().precisions;
  if (std::ranges::find(choices, now) == choices.end()) choices.push_back(now);
  m_precision->clear();
  addPrecisions(*m_precision, choices, int8);
  m_precision->setCurrentIndex(static_cast<int>(std::ranges::find(choices, now) - choices.begin()));
  m_precision->setToolTip(QStringLiteral("Types for nodes without a pin: a single one is used wherever possible; of "
                                         "several, the cheapest by measured or fitted time") +
                          (int8 ? QString() : QStringLiteral("; int8 once there are ranges: Calibrate…")));
}

void MainWindow::refreshSummary() {
  const auto snapshot = m_document->snapshot();
  const bool open = snapshot != nullptr;
  for (QWidget* widget : std::initializer_list<QWidget*>{m_target, m_precision, m_color, m_search})
    offer(*widget, open ? QString() : QStringLiteral("Open a model first."));
  offerDocks(open);
  if (!open) {
    m_status->setText(QStringLiteral("No model open"));
    return;
  }
  const Cover& cover = *snapshot->cover;
  const PlanOptions& options = m_document->options();
  if (m_target->findText(qs(options.target)) < 0) m_target->addItem(qs(options.target));
  m_target->setCurrentText(qs(options.target));
  const Compiler* compiler = findCompiler(options.compiler);
  const auto isItsOwn = [&](const std::string& target) {
    return target == compiler->target() || !compiler->takesTarget(target);
  };
  if (compiler != nullptr && !compiler->target().empty() && std::ranges::all_of(targetNames(), isItsOwn))
    offer(*m_target, QStringLiteral("%1 has a target of its own.").arg(qs(compiler->name())));
  refreshPrecisions();
  const auto count = [](std::size_t number, const char* noun) {
    return plural(static_cast<std::int64_t>(number), QString::fromLatin1(noun));
  };
  const char* fused = snapshot->made() == nullptr ? "fused node" : "kernel";
  QStringList parts{count(cover.segments.size(), "segment"), count(cover.fusedNodes.size(), fused),
                    count(cover.graph().nodeCount(), "node"), count(cover.casts.size(), "cast"),
                    plural(snapshot->pinCount(), QStringLiteral("pin"))};
  m_status->setText(parts.join(QStringLiteral("  ·  ")));
  m_status->setToolTip(snapshot->made() == nullptr ? QString() : tipText(kernelCountsText(*snapshot->made())));
}

void MainWindow::chooseFile() {
  const QString path = QFileDialog::getOpenFileName(
      this, QStringLiteral("Open a model"), QString(),
      QStringLiteral("Models, plans, engines, sessions (*.onnx *.pt2 *.json *.fse *.fsession);;All files (*)"));
  if (!path.isEmpty()) openFile(path);
}

void MainWindow::saveDirectives() {
  const QString path = QFileDialog::getSaveFileName(this, QStringLiteral("Save directives"),
                                                    besideModel(*m_document, QStringLiteral("directives.json")));
  if (path.isEmpty()) return;
  const Status written =
      writeFileAtomically(path.toStdString(), toJson(directivesFileOf(m_document->options())).dump(2) + "\n");
  if (!written.ok()) showProblem(QStringLiteral("The directives were not saved"), problemText(written.error()));
}

void MainWindow::exportPlan() {
  if (!m_document->snapshot()) return;
  auto* dialog = new ExportDialog(context(), *m_worker, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->show();  // not modal, so that what the dialog mentions can be looked at
}

void MainWindow::focusSearch() {
  m_search->setFocus();
  m_search->selectAll();
}

void MainWindow::savePicture(const QString& extension) {
  const QString path = QFileDialog::getSaveFileName(this, QStringLiteral("Save the picture"),
                                                    besideModel(*m_document, QStringLiteral("plan.") + extension));
  if (path.isEmpty()) return;
  const Status written = extension == QLatin1String("svg") ? m_canvas->exportSvg(path) : m_canvas->exportPng(path, 2.0);
  if (!written.ok()) showProblem(QStringLiteral("The picture was not saved"), problemText(written.error()));
}

void MainWindow::exportCsv() {
  const QString path = QFileDialog::getSaveFileName(this, QStringLiteral("Save the layers"),
                                                    besideModel(*m_document, QStringLiteral("layers.csv")));
  if (!path.isEmpty() && !dock<LayersDock>().exportCsv(path))
    showProblem(QStringLiteral("The layers were not saved"), QStringLiteral("%1 cannot be written.").arg(path));
}

void MainWindow::showKeys() {
  auto* dialog = new KeysDialog(m_actions->all(), GraphView::keyHelp() + Ribbon::keyHelp(), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->show();
}

void MainWindow::showRibbon(bool shown) {
  m_ribbon->setVisible(shown);
  m_actions->refresh();
}

void MainWindow::goToAnything() {
  QList<QAction*> actions = m_actions->all(), toDocks;
  for (QAction*& action : actions) {
    Dock* dock = m_dockOf.value(action);
    if (dock == nullptr) continue;
    toDocks << new QAction(action->text());  // this action goes to the dock but never folds it
    toDocks.last()->setShortcut(action->shortcut());
    toDocks.last()->setEnabled(action->isEnabled());
    toDocks.last()->setToolTip(action->toolTip());
    connect(toDocks.last(), &QAction::triggered, this, [this, dock] { focusDock(dock); });
    action = toDocks.last();
  }
  auto* dialog = new GotoDialog(context(), actions, this);
  for (QAction* action : toDocks) action->setParent(dialog);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->move(mapToGlobal(QPoint((width() - dialog->width()) / 2, 70)));
  dialog->show();
}

void MainWindow::openPatternDialog(const QString& pattern) {
  if (!m_document->snapshot()) return;
  opened<PatternDialog>(context(), pattern, this);
}

void MainWindow::openTruncationDialog() {
  if (truncationRefusal().isEmpty()) opened<TruncationDialog>(context(), this);
}

QString MainWindow::truncationRefusal() const {
  const auto snapshot = m_document->snapshot();
  if (!snapshot) return QStringLiteral("Open a network first.");
  const Target& target = snapshot->plan->target;
  return target.lacksInt64 || target.lacksFloat64 || reportsEngines(*snapshot->cover)
             ? QString()
             : QStringLiteral("%1 supports int64 and float64: nothing is truncated.").arg(qs(target.name));
}

void MainWindow::popUpNodeMenu(const QPoint& place) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fillNodeMenu(*menu, context(), m_selection->nodes());
  QMenu* show = menu->addMenu(QStringLiteral("Show in"));
  for (const QString& dock : dockNames()) show->addAction(dock, this, [this, dock] { showDock(dock); });
  show->addAction(QStringLiteral("Canvas"), this, [this] {
    showSelectionOnCanvas(nullptr);
    m_canvas->centreSelection();
  });
  menu->popup(place);
}

}  // namespace fusescope
