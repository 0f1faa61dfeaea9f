#pragma once

#include <QDockWidget>
#include <QMainWindow>

namespace fusescope {

/// Keeps the docks at the sides and below in proportion to the window: they shrink with it and grow back with it, until
/// the user drags one to a size of his own, which then holds as long as the window has room for it.
class DockSizes : public QObject {
  Q_OBJECT

 public:
  /// Of all docks, each by the area that it is in.
  DockSizes(QMainWindow& window, const QList<QDockWidget*>& docks);
  /// Forgets what the user dragged.
  void reset();
  /// Gives each its size in the window as it is.
  void fit();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Side {
    Qt::DockWidgetArea area;
    double share;     ///< of the window
    int least, most;  ///< of what the share gives
    int dragged = 0;  ///< what the user made it; 0: nothing
    Qt::Orientation orientation() const { return area == Qt::BottomDockWidgetArea ? Qt::Vertical : Qt::Horizontal; }
  };
  int wanted(const Side& side) const;
  /// The dock that stands for its area: those of an area share its size.
  QDockWidget* shownIn(Qt::DockWidgetArea area) const;
  QMainWindow& m_window;
  QList<QDockWidget*> m_docks;
  Side m_sides[3];
  bool m_fitting = false;
};

}  // namespace fusescope
