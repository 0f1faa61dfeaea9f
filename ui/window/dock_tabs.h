#pragma once

#include <QTabBar>
#include <functional>

#include "ui/theme/theme.h"

namespace fusescope {

/// A text after the title of a dock until the user looks at it: "building …".
struct DockMark {
  enum class Kind { Busy, Done, Failed };
  QString text{};  ///< one or two words; empty: there is nothing to say
  Kind kind = Kind::Busy;
};

/// The titles of the docks of one side as tabs: above its docks, or along an edge of the window when it is folded. A
/// click, Return or Space chooses a tab, even if it is the current one. GUI thread only.
class DockTabs : public QTabBar {
  Q_OBJECT

 public:
  static constexpr int kThickness = 28;  ///< in device-independent pixels

  explicit DockTabs(std::function<const Theme&()> theme);
  /// Sets whether the dock of the current tab is visible; only then that tab is highlighted.
  void setOpen(bool open);
  /// Sets on which side of its tabs the dock is: the line of the current tab is on that side.
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
  QList<DockMark> m_marks;  ///< the mark of each tab
  bool m_open = false, m_above = false;
};

}  // namespace fusescope
