#pragma once

#include <QJsonObject>
#include <QSplitter>
#include <QVBoxLayout>
#include <QWidget>

#include "ui/window/dock_area.h"

namespace fusescope {

/// The page of a model that is open: the graph in the middle, docks at its sides and below it. What nobody asked for
/// leaves its room to the graph: the docks below it are closed, and those at the sides fold by themselves where the
/// window is narrow. Docks keep in proportion to the window until somebody drags one to a size of his own. GUI thread
/// only.
class Room : public QWidget {
  Q_OBJECT

 public:
  explicit Room(std::function<const Theme&()> theme);
  /// Where the graph stands, and what belongs to it above and below it.
  QVBoxLayout& column() { return *m_column; }
  const QWidget& graph() const { return *m_graph; }
  /// Gets the keyboard when a dock that had it is folded.
  void setMain(QWidget* widget) { m_graph->setFocusProxy(widget); }

  void add(Dock* dock, const DockForm& form);
  /// Brings it to the front, and unfolds its side for good.
  void open(Dock* dock);
  /// Folds the side that it is of, for good.
  void fold(const Dock* dock) { setWish(sideOf(dock), Wish::Folded); }
  void toggle(Qt::DockWidgetArea side);
  /// In front, and not folded.
  bool isOpen(const Dock* dock) const;
  DockArea& areaOf(const Dock* dock) { return *sideOf(dock).area; }
  DockArea& area(Qt::DockWidgetArea side) { return *sideAt(side).area; }
  /// As in a window that nobody has touched.
  void reset();
  /// What somebody chose, to be remembered.
  QJsonObject state() const;
  void restore(const QJsonObject& state);
  void renewTheme();

 signals:
  void frontChanged();  ///< another dock is on screen, or one no longer is

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  enum class Wish { None, Open, Folded };  ///< of the user
  struct Side {
    Qt::DockWidgetArea at;
    DockArea* area;
    double share;     ///< of the room
    int least, most;  ///< of what the share gives
    int foldsBelow;   ///< in a narrower room it is folded where nobody wished otherwise
    Wish wish = Wish::None;
    int dragged = 0;  ///< what the user made it; 0: nothing
    bool isBelow() const { return at == Qt::BottomDockWidgetArea; }
  };
  Side& sideAt(Qt::DockWidgetArea at);
  Side& sideOf(const Dock* dock);
  void setWish(Side& side, Wish wish);
  bool folded(const Side& side) const;
  /// Its size in the room as it is, in pixels.
  int wanted(const Side& side) const;
  void fit();
  void noteDragged();

  QSplitter *m_across, *m_down;
  QWidget* m_graph;
  QVBoxLayout* m_column;
  Side m_sides[3];
};

}  // namespace fusescope
