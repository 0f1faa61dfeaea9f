// What the window does with keys and with files that are dropped on it.
#include <QAbstractItemView>
#include <QApplication>
#include <QContextMenuEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QUrl>

#include "session/import_engine.h"
#include "ui/dialogs/calibrate_dialog.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/document/qt_text.h"
#include "ui/window/file_kinds.h"
#include "ui/window/main_window.h"

namespace fusescope {

namespace {

QStringList localFiles(const QMimeData& data) {
  QStringList files;
  for (const QUrl& url : data.urls())
    if (url.isLocalFile()) files << url.toLocalFile();
  return files;
}

constexpr int kAskedMs = 4000;  ///< for which a second Escape cancels what is under way

struct Dropped {
  QString path;
  FileKind kind;
};

}  // namespace

void MainWindow::makeKeys() {
  m_escape = new QShortcut(QKeySequence(Qt::Key_Escape), this);
  m_escape->setEnabled(false);
  m_cancelAsked.setSingleShot(true);
  m_cancelAsked.setInterval(kAskedMs);
  connect(&m_cancelAsked, &QTimer::timeout, this, &MainWindow::showActivity);
  connect(m_escape, &QShortcut::activated, this,
          [this] { m_document->opening() ? m_document->cancelOpening() : m_document->cancelPlanning(); });
  connect(m_document.get(), &PlanDocument::openingCancelled, this, [this] { m_dropped.clear(); });
  m_search->installEventFilter(this);
  m_search->setAcceptDrops(false);  // a file goes to the window
  connect(m_canvas, &GraphView::searchCleared, m_search, &QLineEdit::clear);
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  // Whoever has the focus had no use for it: then it is about what is under way, else about the dock below the graph.
  if (event->key() != Qt::Key_Escape) return QMainWindow::keyPressEvent(event);
  if (m_controller->busy()) return cancelWork();
  const DockArea& below = m_room->area(Qt::BottomDockWidgetArea);
  if (!below.folded() && below.isAncestorOf(QApplication::focusWidget())) m_room->fold(below.front());
}

/// One Escape too many, after a menu and a selection, does not lose a long build.
void MainWindow::cancelWork() {
  if (m_cancelAsked.isActive()) {
    m_cancelAsked.stop();
    return m_controller->cancel();
  }
  m_cancelAsked.start();
  showActivity();
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  if (Dock* dock = event->type() == QEvent::Shortcut ? m_dockOf.value(watched) : nullptr) {
    if (dock->isAncestorOf(QApplication::focusWidget())) return false;  // the action folds it away
    focusDock(dock);
    return true;
  }
  if (watched != m_search || event->type() != QEvent::KeyPress) return QMainWindow::eventFilter(watched, event);
  if (static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape) return false;
  m_search->clear();
  m_canvas->setFocus();
  return true;
}

void MainWindow::popUpMenuOfFocus() {
  QWidget* focus = focusWidget();
  if (focus == nullptr) return;
  QPoint at = focus->rect().center();
  if (auto* view = qobject_cast<QAbstractItemView*>(focus)) {
    focus = view->viewport();
    const QRect row = view->visualRect(view->currentIndex()).intersected(focus->rect());
    if (row.isValid()) at = row.center();
  }
  QContextMenuEvent event(QContextMenuEvent::Keyboard, at, focus->mapToGlobal(at));
  QCoreApplication::sendEvent(focus, &event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (!localFiles(*event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QStringList files = localFiles(*event->mimeData());
  if (files.isEmpty()) return;
  event->acceptProposedAction();
  dropFiles(files);
}

void MainWindow::dropFiles(const QStringList& paths) {
  std::vector<Dropped> dropped;
  for (const QString& path : paths) dropped.push_back({path, fileKindOf(path)});
  const auto isForOpenModel = [](const Dropped& file) { return isForModel(file.kind); };
  const bool open = m_document->model() != nullptr;
  if (!open && std::ranges::all_of(dropped, isForOpenModel)) {
    const auto layers =
        std::ranges::find_if(paths, [](const QString& path) { return listsEngineLayers(path.toStdString()); });
    // Without the network that an engine was built from its layers are one.
    if (layers != paths.end() && openFile(*layers)) m_dropped = paths;
    if (layers != paths.end()) return;
    return showProblem(
        QStringLiteral("Open a model first"),
        QStringLiteral("%1 says something of a model, and none is open.").arg(QFileInfo(paths.front()).fileName()));
  }
  // The model before what is for it, in whichever order they were dropped.
  const auto takesPlace = [&](const Dropped& file) {
    return !isForModel(file.kind) && (!open || file.kind != FileKind::Engine);
  };
  if (const auto first = std::ranges::find_if(dropped, takesPlace); first != dropped.end()) {
    QStringList others = paths;
    others.removeAt(int(first - dropped.begin()));
    if (openFile(first->path)) m_dropped = others;
    return;
  }
  QStringList engines, ofEngine;
  SampleSource inputs;  // dropped together they are samples of one run
  for (const Dropped& file : dropped) {
    if (file.kind == FileKind::Engine) {
      engines << file.path;
    } else if (file.kind == FileKind::Inputs) {
      inputs.paths.push_back(file.path.toStdString());
    } else if (file.kind == FileKind::Ranges) {
      opened<CalibrateDialog>(context(), *m_worker, this)->openFile(file.path);
    } else if (file.kind == FileKind::EngineFile) {
      ofEngine << file.path;  // together they are one engine
    } else {
      openFile(file.path);
    }
  }
  if (!ofEngine.isEmpty()) {
    m_controller->importEngine(ofEngine);
    showDock(QStringLiteral("Runs"));
  }
  if (!inputs.empty()) {
    setInputs(inputs);
    showDock(QStringLiteral("Runs"));
  }
  if (!engines.isEmpty()) addEngines(engines);
}

void MainWindow::addEngines(const QStringList& paths) {
  QStringList engines = paths;
  // An engine that is open is one of those to compare.
  const auto& runs = m_runs->all();
  const std::string own = m_document->path().toStdString();
  const bool known = std::any_of(runs.begin(), runs.end(), [&](const Run& run) { return run.enginePath == own; });
  if (m_document->kind() == ArtifactKind::Engine && m_document->model() && !known) engines.prepend(m_document->path());
  m_controller->addEngines(engines);
  showDock(QStringLiteral("Runs"));
}

}  // namespace fusescope
