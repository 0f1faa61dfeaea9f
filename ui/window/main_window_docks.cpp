// The docks of the window, and the mark of the runs' dock while it is not visible.
#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QTextBrowser>

#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"

namespace fusescope {

namespace {

const QString kNameOfRuns = QStringLiteral("Runs");

/// Returns the widget that gets the keyboard focus when a dock comes to the front: its content rather than its search
/// field.
QWidget* firstToFocus(const QWidget& dock) {
  QWidget* fallback = nullptr;
  for (QWidget* widget : dock.findChildren<QWidget*>()) {
    if (!widget->isVisibleTo(&dock) || !widget->isEnabled() || !(widget->focusPolicy() & Qt::TabFocus)) continue;
    if (qobject_cast<QAbstractItemView*>(widget) != nullptr) return widget;
    if (fallback == nullptr || qobject_cast<QTextBrowser*>(widget) != nullptr) fallback = widget;
  }
  return fallback;
}

/// Returns the result of the last run in a word.
DockMark markOf(const Run& run, bool wrong) {
  if (wrong) return {QStringLiteral("✗ fails"), DockMark::Kind::Failed};
  if (run.state == RunState::Failed) return {QStringLiteral("✗ failed"), DockMark::Kind::Failed};
  if (run.state == RunState::Cancelled) return {QStringLiteral("cancelled"), DockMark::Kind::Busy};
  return {QStringLiteral("✓ done"), DockMark::Kind::Done};
}

}  // namespace

void MainWindow::makeDocks() {
  const DockContext shared = context();
  for (const DockForm* form : dockForms()) {
    m_docks << form->make(shared);
    m_room->add(m_docks.last(), *form);
  }
}

QStringList MainWindow::dockNames() const {
  QStringList names;
  for (const DockForm* form : dockForms()) names << QString::fromLatin1(form->name);
  return names;
}

Dock* MainWindow::dockNamed(const QString& name) const {
  const QStringList names = dockNames();
  for (int i = 0; i < names.size(); ++i)
    if (names[i].compare(name, Qt::CaseInsensitive) == 0) return m_docks[i];
  return nullptr;
}

bool MainWindow::showDock(const QString& name) {
  Dock* dock = dockNamed(name);
  if (dock != nullptr) m_room->open(dock);
  return dock != nullptr;
}

QAction* MainWindow::dockAction(Dock* dock, const DockForm& form) {
  auto* action = new QAction(QString::fromLatin1(form.name), this);
  action->setCheckable(true);
  action->setShortcut(QKeySequence(QString::fromLatin1(form.key)));
  // The action is checked if the dock is in front, not if it is behind another tab.
  connect(m_room, &Room::frontChanged, action, [this, action, dock] { action->setChecked(m_room->isOpen(dock)); });
  connect(action, &QAction::triggered, this, [this, dock](bool show) {
    if (show) return focusDock(dock);
    m_room->fold(dock);
    m_canvas->setFocus();
  });
  m_dockOf.insert(action, dock);
  action->installEventFilter(this);
  return action;
}

void MainWindow::focusDock(Dock* dock) {
  m_room->open(dock);
  QWidget* first = firstToFocus(*dock);
  (first != nullptr ? first : dock)->setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::offerDocks(bool open) {
  for (QAction* action : m_actions->all()) {
    if (!m_dockOf.contains(action)) continue;
    action->setEnabled(open);
    action->setToolTip(open ? action->text() : QStringLiteral("Open a model first."));
  }
}

void MainWindow::showActivity() {
  Dock* runs = dockNamed(kNameOfRuns);
  const bool busy = m_controller->busy();
  if (busy) {
    const QString activity = m_controller->activity();
    m_activity->setText(m_cancelAsked.isActive() ? QStringLiteral("Press Esc again to cancel: %1 …").arg(activity)
                                                 : QStringLiteral("%1 … (Esc twice cancels)").arg(activity));
    m_room->areaOf(runs).setMark(
        runs, {activity.section(QLatin1Char(' '), 0, 0) + QStringLiteral(" …"), DockMark::Kind::Busy});
  } else if (m_working && !m_runs->all().empty()) {
    const Run* shown = m_runs->shown();
    const bool wrong = shown != nullptr && m_runs->verdict(*shown).kind == Verdict::Kind::Fail;
    const Run& last = wrong ? *shown : m_runs->all().back();
    const QString& problem = m_controller->problem();
    const DockMark mark =
        problem.isEmpty() ? markOf(last, wrong) : DockMark{QStringLiteral("✗ failed"), DockMark::Kind::Failed};
    m_activity->setText(problem.isEmpty() ? QStringLiteral("%1: %2").arg(Runs::title(last), mark.text)
                                          : QStringLiteral("✗ ") + problem);
    m_room->areaOf(runs).setMark(runs, mark);
  }
  m_working = busy;
  if (!busy) m_cancelAsked.stop();
  clearSeenMark();
}

void MainWindow::clearSeenMark() {
  Dock* runs = dockNamed(kNameOfRuns);
  if (!m_controller->busy() && m_room->isOpen(runs)) m_room->areaOf(runs).setMark(runs, {});
}

}  // namespace fusescope
