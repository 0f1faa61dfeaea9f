#include <QAction>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QMenuBar>
#include <QSettings>
#include <QShortcut>
#include <QStatusBar>

#include "base/files.h"
#include "planning/directives_file.h"
#include "session/options_json.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/dialogs/goto_dialog.h"
#include "ui/dialogs/keys_dialog.h"
#include "ui/dialogs/pattern_dialog.h"
#include "ui/document/qt_text.h"
#include "ui/window/compact_tool_bar.h"
#include "ui/window/main_window.h"
#include "ui/window/node_menu.h"

namespace fusescope {

namespace {

constexpr const char* kIconProperty = "fusescopeIcon";

struct PrecisionChoice {
  const char* text;
  std::vector<DataType> types;
};
const std::vector<PrecisionChoice>& precisionChoices() {
  static const std::vector<PrecisionChoice> kChoices = {{"f32", {}},
                                                        {"f16", {DataType::F16}},
                                                        {"bf16", {DataType::BF16}},
                                                        {"f16, bf16", {DataType::F16, DataType::BF16}}};
  return kChoices;
}

}  // namespace

QAction* MainWindow::addAction(QMenu* menu, const QString& text, const QKeySequence& key, std::function<void()> act,
                               const QString& icon) {
  QAction* action = menu->addAction(text);
  action->setShortcut(key);
  action->setProperty(kIconProperty, icon);
  const QString keys = key.toString(QKeySequence::NativeText);
  action->setToolTip(QString(text).remove(QLatin1Char('&')) +
                     (keys.isEmpty() ? QString() : QStringLiteral("  (%1)").arg(keys)));
  connect(action, &QAction::triggered, this, [act = std::move(act)] { act(); });
  m_actions << action;
  return action;
}

void MainWindow::makeActions() {
  makeFileMenu();
  makeEditMenu();
  makeViewMenu();
  QMenu* help = menuBar()->addMenu(QStringLiteral("&Help"));
  addAction(
      help, QStringLiteral("All keys"), QKeySequence(QStringLiteral("F1")), [this] { showKeys(); },
      QStringLiteral("help"));
  auto* question = new QShortcut(QKeySequence(QStringLiteral("?")), this);
  connect(question, &QShortcut::activated, this, &MainWindow::showKeys);
  makeToolBar();
  makeKeys();
}

void MainWindow::makeFileMenu() {
  QMenu* file = menuBar()->addMenu(QStringLiteral("&File"));
  addAction(
      file, QStringLiteral("&Open…"), QKeySequence::Open, [this] { chooseFile(); }, QStringLiteral("open"));
  QMenu* recent = file->addMenu(QStringLiteral("Open &recent"));
  connect(recent, &QMenu::aboutToShow, this, [this, recent] {
    recent->clear();
    for (const QString& path : PlanDocument::recentFiles())
      recent->addAction(path, this, [this, path] { openFile(path); });
    if (recent->isEmpty()) recent->addAction(QStringLiteral("Nothing yet"))->setEnabled(false);
  });
  QMenu* samples = file->addMenu(QStringLiteral("&Samples"));
  for (const Sample& sample : bundledSamples()) {
    samples->addAction(sample.name, this, [this, path = sample.path] { openFile(path); })
        ->setToolTip(sample.description);
  }
  addAction(
      file, QStringLiteral("Re&load"), QKeySequence(QStringLiteral("F5")), [this] { m_document->reload(); },
      QStringLiteral("reload"));
  file->addSeparator();
  addAction(
      file, QStringLiteral("&Save session"), QKeySequence::Save, [this] { saveSession(false); },
      QStringLiteral("save"));
  addAction(file, QStringLiteral("Save session &as…"), QKeySequence(QStringLiteral("Ctrl+Shift+S")),
            [this] { saveSession(true); });
  file->addSeparator();
  addAction(file, QStringLiteral("Open &directives…"), QKeySequence(QStringLiteral("Ctrl+Shift+O")),
            [this] { openDirectives(); });
  addAction(file, QStringLiteral("Save d&irectives…"), {}, [this] { saveDirectives(); });
  addAction(
      file, QStringLiteral("&Export…"), QKeySequence(QStringLiteral("Ctrl+E")),
      [this] {
        if (m_document->snapshot()) ExportDialog(context(), this).exec();
      },
      QStringLiteral("export"));
  addAction(
      file, QStringLiteral("Save picture as S&VG…"), {}, [this] { savePicture(QStringLiteral("svg")); },
      QStringLiteral("image"));
  addAction(
      file, QStringLiteral("Save picture as &PNG…"), {}, [this] { savePicture(QStringLiteral("png")); },
      QStringLiteral("image"));
  addAction(file, QStringLiteral("Save layers as &CSV…"), {}, [this] { exportCsv(); });
  file->addSeparator();
  addAction(file, QStringLiteral("&Quit"), QKeySequence::Quit, [this] { close(); });
}

void MainWindow::makeEditMenu() {
  QMenu* edit = menuBar()->addMenu(QStringLiteral("&Edit"));
  QUndoStack& stack = m_document->undoStack();
  QAction* undo = stack.createUndoAction(this, QStringLiteral("Undo"));
  undo->setShortcut(QKeySequence::Undo);
  undo->setProperty(kIconProperty, QStringLiteral("undo"));
  QAction* redo = stack.createRedoAction(this, QStringLiteral("Redo"));
  redo->setShortcuts({QKeySequence(QStringLiteral("Ctrl+Y")), QKeySequence(QStringLiteral("Ctrl+Shift+Z"))});
  redo->setProperty(kIconProperty, QStringLiteral("redo"));
  edit->addActions({undo, redo});
  m_actions << undo << redo;
  edit->addSeparator();
  m_nodeMenu = edit->addMenu(QStringLiteral("Selected &nodes"));
  connect(m_nodeMenu, &QMenu::aboutToShow, this,
          [this] { fillNodeMenu(*m_nodeMenu, context(), m_selection->nodes()); });
  addAction(
      edit, QStringLiteral("&Pin a pattern…"), QKeySequence(QStringLiteral("Ctrl+Shift+F")),
      [this] { openPatternDialog(QString()); }, QStringLiteral("pin"));
  addAction(
      edit, QStringLiteral("Clear all directives"), {},
      [this] { m_document->editDirectives(QStringLiteral("Clear all directives"), {}); }, QStringLiteral("unpin"));
  edit->addSeparator();
  addAction(
      edit, QStringLiteral("&Find"), QKeySequence::Find,
      [this] {
        m_search->setFocus();
        m_search->selectAll();
      },
      QStringLiteral("search"));
  addAction(
      edit, QStringLiteral("&Go to anything…"), QKeySequence(QStringLiteral("Ctrl+P")), [this] { goToAnything(); },
      QStringLiteral("command"));
  auto* palette = new QShortcut(QKeySequence(QStringLiteral("Ctrl+Shift+P")), this);
  connect(palette, &QShortcut::activated, this, &MainWindow::goToAnything);
  addAction(edit, QStringLiteral("&Menu of what has the focus"), QKeySequence(QStringLiteral("Shift+F10")),
            [this] { popUpMenuOfFocus(); });
  m_actions.last()->setShortcuts({QKeySequence(QStringLiteral("Shift+F10")), QKeySequence(Qt::Key_Menu)});
  QMenu* build = menuBar()->addMenu(QStringLiteral("&Build"));
  const auto inDock = [this](auto act) {
    return [this, act] {
      showDock(QStringLiteral("Runs"));
      act();
    };
  };
  addAction(build, QStringLiteral("&Build this plan"), QKeySequence(QStringLiteral("F7")),
            inDock([this] { m_controller->build(); }), QStringLiteral("build"));
  addAction(build, QStringLiteral("&Evaluate the shown run"), QKeySequence(QStringLiteral("F8")),
            inDock([this] { m_controller->evaluate(); }), QStringLiteral("check"));
  addAction(build, QStringLiteral("Build both and &compare"), QKeySequence(QStringLiteral("F9")),
            inDock([this] { m_controller->buildBoth(); }), QStringLiteral("run"));
  addAction(
      build, QStringLiteral("Compare the &two runs"), QKeySequence(QStringLiteral("F10")),
      [this] {
        showDock(QStringLiteral("Compare"));
        m_controller->compare();
      },
      QStringLiteral("compare"));
  addAction(build, QStringLiteral("&Inputs, tolerance, threads…"), QKeySequence(QStringLiteral("Ctrl+I")),
            [this] { editRunSettings(); });
  addAction(build, QStringLiteral("&Add engine files to compare…"), {}, [this] { addEngines(); });
  addAction(
      build, QStringLiteral("Cance&l"), QKeySequence(QStringLiteral("Shift+Esc")),
      [this] {
        m_controller->cancel();
        m_document->cancelOpening();
      },
      QStringLiteral("cancel"));
}

void MainWindow::makeViewMenu() {
  QMenu* view = menuBar()->addMenu(QStringLiteral("&View"));
  addAction(
      view, QStringLiteral("&Fit"), QKeySequence(QStringLiteral("Ctrl+0")), [this] { m_canvas->fit(); },
      QStringLiteral("fit"));
  addAction(
      view, QStringLiteral("Zoom &in"), QKeySequence::ZoomIn, [this] { m_canvas->zoomIn(); },
      QStringLiteral("zoom-in"));
  addAction(
      view, QStringLiteral("Zoom &out"), QKeySequence::ZoomOut, [this] { m_canvas->zoomOut(); },
      QStringLiteral("zoom-out"));
  addAction(
      view, QStringLiteral("Open all fused nodes"), QKeySequence(QStringLiteral("Ctrl+Shift+E")),
      [this] { m_canvas->expandAll(); }, QStringLiteral("expand"));
  addAction(
      view, QStringLiteral("Close all fused nodes"), QKeySequence(QStringLiteral("Ctrl+Shift+C")),
      [this] { m_canvas->collapseAll(); }, QStringLiteral("collapse"));
  addAction(view, QStringLiteral("Next match"), QKeySequence(QStringLiteral("F3")), [this] { m_canvas->nextMatch(); });
  addAction(view, QStringLiteral("Previous match"), QKeySequence(QStringLiteral("Shift+F3")),
            [this] { m_canvas->previousMatch(); });
  view->addSeparator();
  for (QDockWidget* dock : m_docks) {
    m_actions << dockAction(dock);
    view->addAction(m_actions.last());
  }
  addAction(view, QStringLiteral("&Reset the docks"), {}, [this] { arrangeDocks(); });
  view->addSeparator();
  addAction(
      view, QStringLiteral("Dark or light &theme"), QKeySequence(QStringLiteral("Ctrl+T")),
      [this] { setTheme(m_theme == ThemeKind::Dark ? ThemeKind::Light : ThemeKind::Dark); }, QStringLiteral("theme"));
  addAction(view, QStringLiteral("F&ull screen"), QKeySequence(QStringLiteral("F11")),
            [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
}

void MainWindow::makeToolBar() {
  auto* bar = new CompactToolBar(QStringLiteral("Tools"));
  addToolBar(bar);
  bar->setObjectName(QStringLiteral("toolbar"));
  bar->setMovable(false);
  bar->setIconSize(QSize(18, 18));
  const auto action = [this](const char* icon) {
    for (QAction* candidate : m_actions) {
      if (candidate->property(kIconProperty).toString() == QLatin1String(icon)) return candidate;
    }
    return static_cast<QAction*>(nullptr);
  };
  m_target = new QComboBox;
  for (const std::string& target : targetNames()) m_target->addItem(qs(target));
  m_target->setToolTip(QStringLiteral("What to plan for. Engines are built for cpu."));
  m_precision = new QComboBox;
  for (const PrecisionChoice& choice : precisionChoices()) m_precision->addItem(QString::fromLatin1(choice.text));
  m_precision->setToolTip(QStringLiteral("Types that may be used, besides f32, where nothing is pinned"));
  m_color = new QComboBox;
  m_color->addItems(
      {QStringLiteral("precision"), QStringLiteral("kind"), QStringLiteral("time"), QStringLiteral("segment")});
  m_search = new QLineEdit;
  m_search->setPlaceholderText(QStringLiteral("Find nodes, tensors (Ctrl+F)"));
  m_search->setClearButtonEnabled(true);
  m_search->setFixedWidth(230);
  m_searchCount = new QLabel;
  m_searchCount->setForegroundRole(QPalette::PlaceholderText);
  bar->addActions({action("open"), action("undo"), action("redo")});
  bar->addSeparator();
  bar->addLabelled(QStringLiteral("Target"), m_target);
  bar->addLabelled(QStringLiteral("Precision"), m_precision);
  bar->addSeparator();
  for (const auto& [icon, label] : {std::pair{"build", "Build"}, {"run", "Build both"}, {"compare", "Compare"}}) {
    bar->addWorded(action(icon), QString::fromLatin1(label));
  }
  bar->addSeparator();
  bar->addLabelled(QStringLiteral("Colour"), m_color);
  bar->addActions({action("fit"), action("expand"), action("collapse")});
  auto* space = new QWidget;
  space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  bar->addWidget(space);
  bar->addActions({action("theme"), action("help")});
  // In the menu bar, where no width of the window hides it.
  auto* corner = new QWidget;
  auto* row = new QHBoxLayout(corner);
  row->setContentsMargins(0, 0, 6, 2);
  row->addWidget(m_searchCount);
  row->addWidget(m_search);
  menuBar()->setNativeMenuBar(false);
  menuBar()->setCornerWidget(corner);
  connect(m_target, &QComboBox::textActivated, this,
          [this](const QString& target) { m_document->setTarget(target.toStdString()); });
  connect(m_precision, qOverload<int>(&QComboBox::activated), this,
          [this](int i) { m_document->setPrecisions(precisionChoices()[static_cast<std::size_t>(i)].types); });
  connect(m_color, qOverload<int>(&QComboBox::currentIndexChanged), this,
          [this](int mode) { m_canvas->setColorMode(static_cast<ColorMode>(mode)); });
  connect(m_canvas, &GraphView::colorModeChanged, this,
          [this](ColorMode mode) { m_color->setCurrentIndex(static_cast<int>(mode)); });
  connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
    const int count = m_canvas->search(text);
    m_searchCount->setText(text.isEmpty() ? QString()
                           : count == 0   ? QStringLiteral("no match")
                                          : plural(count, QStringLiteral("match"), QStringLiteral("matches")));
  });
  connect(m_search, &QLineEdit::returnPressed, m_canvas, &GraphView::nextMatch);
}

void MainWindow::makeStatusBar() {
  m_status = new QLabel;
  m_work = new QLabel;
  m_status->setContentsMargins(8, 0, 8, 0);
  m_work->setContentsMargins(8, 0, 8, 0);
  m_work->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_work->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  statusBar()->addWidget(m_work, 1);
  statusBar()->addPermanentWidget(m_status);
}

void MainWindow::refreshIcons() {
  for (QAction* action : m_actions) {
    const QString icon = action->property(kIconProperty).toString();
    if (!icon.isEmpty()) action->setIcon(themedIcon(icon, Theme::of(m_theme)));
  }
}

void MainWindow::refreshSummary() {
  const auto snapshot = m_document->snapshot();
  const bool open = snapshot != nullptr;
  for (QWidget* widget : std::initializer_list<QWidget*>{m_target, m_precision, m_color, m_search})
    widget->setEnabled(open);
  static const QStringList kOfModel = {"save",    "export",   "image",  "reload",  "build", "check",
                                       "run",     "compare",  "fit",    "search",  "pin",   "unpin",
                                       "zoom-in", "zoom-out", "expand", "collapse"};
  for (QAction* action : m_actions)
    if (kOfModel.contains(action->property(kIconProperty).toString())) action->setEnabled(open);
  if (!open) {
    m_status->setText(QStringLiteral("No model open"));
    return;
  }
  const Plan& plan = *snapshot->plan;
  const PlanOptions& options = m_document->options();
  if (m_target->findText(qs(options.target)) < 0) m_target->addItem(qs(options.target));
  m_target->setCurrentText(qs(options.target));
  for (std::size_t i = 0; i < precisionChoices().size(); ++i) {
    if (precisionChoices()[i].types == options.precisions) m_precision->setCurrentIndex(static_cast<int>(i));
  }
  const auto count = [](std::size_t number, const char* noun) {
    return plural(static_cast<std::int64_t>(number), QString::fromLatin1(noun));
  };
  m_status->setText(QStringList{count(plan.segments.size(), "segment"), count(plan.fusedNodes.size(), "fused node"),
                                count(plan.graph().nodeCount(), "node"), count(plan.casts.size(), "cast"),
                                plural(snapshot->pinCount(), QStringLiteral("pin"))}
                        .join(QStringLiteral("  ·  ")));
}

void MainWindow::chooseFile() {
  const QString path =
      QFileDialog::getOpenFileName(this, QStringLiteral("Open a model"), QString(),
                                   QStringLiteral("Models, plans, engines, sessions (*.onnx *.json *.fse *.fsession);;All files (*)"));
  if (!path.isEmpty()) openFile(path);
}

void MainWindow::saveDirectives() {
  const QString path =
      QFileDialog::getSaveFileName(this, QStringLiteral("Save directives"), QStringLiteral("directives.json"));
  if (path.isEmpty()) return;
  const Status written =
      writeFileAtomically(path.toStdString(), toJson(directivesFileOf(m_document->options())).dump(2) + "\n");
  if (!written.ok()) showProblem(QStringLiteral("The directives were not saved"), qs(written.error().text()));
}

void MainWindow::openDirectives() {
  const QString path = QFileDialog::getOpenFileName(this, QStringLiteral("Open directives"), QString(),
                                                    QStringLiteral("Directives (*.json);;All files (*)"));
  if (!path.isEmpty()) openDirectives(path);
}

void MainWindow::openDirectives(const QString& path) {
  const auto read = readDirectivesFile(path.toStdString());
  if (read.ok()) {
    PlanOptions options = m_document->options();
    adopt(read.value(), options);
    m_document->edit(QStringLiteral("Open directives"), std::move(options));
  } else {
    showProblem(QStringLiteral("These directives cannot be used"), qs(read.error().text()));
  }
}

void MainWindow::savePicture(const QString& extension) {
  const QString path =
      QFileDialog::getSaveFileName(this, QStringLiteral("Save the picture"), QStringLiteral("plan.") + extension);
  if (path.isEmpty()) return;
  const Status written = extension == QLatin1String("svg") ? m_canvas->exportSvg(path) : m_canvas->exportPng(path, 2.0);
  if (!written.ok()) showProblem(QStringLiteral("The picture was not saved"), qs(written.error().text()));
}

void MainWindow::exportCsv() {
  const QString path =
      QFileDialog::getSaveFileName(this, QStringLiteral("Save the layers"), QStringLiteral("layers.csv"));
  if (!path.isEmpty() && !m_layers->exportCsv(path))
    showProblem(QStringLiteral("The layers were not saved"), QStringLiteral("%1 cannot be written.").arg(path));
}

void MainWindow::showKeys() {
  auto* dialog = new KeysDialog(m_actions, GraphView::keyHelp(), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->show();
}

void MainWindow::goToAnything() {
  auto* dialog = new GotoDialog(context(), m_actions, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->move(mapToGlobal(QPoint((width() - dialog->width()) / 2, 70)));
  dialog->show();
}

void MainWindow::openPatternDialog(const QString& pattern) {
  if (!m_document->snapshot()) return;
  auto* dialog = new PatternDialog(context(), pattern, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
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
