// Keyboard input, and files that are dropped on the window.
#include <QAbstractItemView>
#include <QApplication>
#include <QContextMenuEvent>
#include <QDragEnterEvent>
#include <QMimeData>
#include <QUrl>

#include "ui/window/main_window.h"

namespace fusescope {

namespace {

QStringList localFiles(const QMimeData& data) {
  QStringList files;
  for (const QUrl& url : data.urls())
    if (url.isLocalFile()) files << url.toLocalFile();
  return files;
}

constexpr int kAskedMs = 4000;  ///< how long a second Escape cancels the current work

}  // namespace

void MainWindow::makeKeys() {
  m_escape = new QShortcut(QKeySequence(Qt::Key_Escape), this);
  m_escape->setEnabled(false);
  m_cancelAsked.setSingleShot(true);
  m_cancelAsked.setInterval(kAskedMs);
  connect(&m_cancelAsked, &QTimer::timeout, this, &MainWindow::showActivity);
  connect(m_escape, &QShortcut::activated, this,
          [this] { m_document->opening() ? m_document->cancelOpening() : m_document->cancelPlanning(); });
  m_search->installEventFilter(this);
  m_search->setAcceptDrops(false);  // files are dropped on the window instead
  connect(m_canvas, &GraphView::searchCleared, m_search, &QLineEdit::clear);
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  // Escape was not used by the focused widget. It then concerns the current work, or otherwise the dock below the
  // graph.
  if (event->key() != Qt::Key_Escape) return QMainWindow::keyPressEvent(event);
  if (event->isAutoRepeat()) return;  // a key that is held does not count as a second one
  if (m_controller->busy()) return cancelWork();
  const DockArea& below = m_room->area(Qt::BottomDockWidgetArea);
  if (!below.folded() && below.isAncestorOf(QApplication::focusWidget())) m_room->fold(below.front());
}

/// A single Escape, perhaps one too many after closing a menu, does not cancel a long build.
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
    if (dock->isAncestorOf(QApplication::focusWidget())) return false;  // in this case the action folds the dock
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

}  // namespace fusescope
