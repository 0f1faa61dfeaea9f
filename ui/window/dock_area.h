#pragma once

#include <QBoxLayout>
#include <QStackedWidget>
#include <QToolButton>
#include <QWidget>

#include "ui/docks/dock.h"
#include "ui/window/dock_tabs.h"

namespace fusescope {

/// The docks of one side of the graph, one of them in front, and their titles in a bar. When it is folded, only the bar
/// is visible: below the graph, or along the edge of the window. Its owner (Room) decides whether it is folded. GUI
/// thread only.
class DockArea : public QWidget {
  Q_OBJECT

 public:
  DockArea(Qt::DockWidgetArea side, std::function<const Theme&()> theme);
  /// Sets the shortcut of the action that folds it, for the button's tool tip.
  void setKeys(const QString& keys);
  void add(Dock* dock, const DockForm& form);
  bool holds(const Dock* dock) const { return m_pages->indexOf(const_cast<Dock*>(dock)) >= 0; }
  /// Returns the visible dock; for a folded area the one that becomes visible again.
  Dock* front() const { return static_cast<Dock*>(m_pages->currentWidget()); }
  void bringToFront(Dock* dock) { m_tabs->setCurrentIndex(m_pages->indexOf(dock)); }
  bool folded() const { return m_folded; }
  /// Folds or unfolds the area. An area that is not folded is at least `least` pixels high below the graph, or wide at
  /// its side.
  void setFolded(bool folded, int least);
  void setMark(const Dock* dock, const DockMark& mark);
  void renewTheme();
  DockTabs& tabs() { return *m_tabs; }

 signals:
  /// A title or the button was clicked.
  void openWanted();
  void foldWanted();
  void frontChanged();

 private:
  bool isBelow() const { return m_side == Qt::BottomDockWidgetArea; }
  void placeBar();
  void renewButton();

  Qt::DockWidgetArea m_side;
  std::function<const Theme&()> m_theme;
  QString m_keys;
  DockTabs* m_tabs;
  QToolButton* m_fold;
  QStackedWidget* m_pages;
  QBoxLayout *m_layout, *m_bar;
  bool m_folded = false;
};

}  // namespace fusescope
