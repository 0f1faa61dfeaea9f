#pragma once

#include <QTabBar>
#include <functional>

#include "ui/theme/theme.h"

namespace fusescope {

/// What is said behind the title of a dock for as long as nobody has looked there: "building …".
struct DockMark {
  enum class Kind { Busy, Done, Failed };
  QString text{};  ///< a word or two; empty: there is nothing to say
  Kind kind = Kind::Busy;
};

/// The titles of the docks of one side, which are tabs: across its docks, or folded down an edge of the window. A click
/// on one, Return or Space choose it, also where it is the current one. GUI thread only.
class DockTabs : public QTabBar {
  Q_OBJECT

 public:
  static constexpr int kThickness = 28;  ///< in device-independent pixels

  explicit DockTabs(std::function<const Theme&()> theme);
  /// Whether the dock of the current tab is on screen; only then that tab stands out.
  void setOpen(bool open);
  /// Where the dock lies from its tabs: the line of the current tab is on that side.
  void setAbove(bool above) { m_above = above; }
  void setMark(int tab, const DockMark& mark);
  const DockMark& mark(int tab) const { return m_marks.at(tab); }

 signals:
  void chosen(int tab);

 protected:
  QSize tabSizeHint(int tab) const override;
  void tabInserted(int tab) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent*) override {}
  void keyPressEvent(QKeyEvent* event) override;

 private:
  bool isVertical() const { return shape() == RoundedWest || shape() == RoundedEast; }
  void paintTab(QPainter& painter, int tab) const;

  std::function<const Theme&()> m_theme;
  QList<DockMark> m_marks;  ///< of each tab
  bool m_open = false, m_above = false;
};

}  // namespace fusescope
