#pragma once

#include <QJsonObject>
#include <QSplitter>
#include <QVBoxLayout>
#include <QWidget>

#include "ir/graph.h"
#include "ui/window/dock_area.h"

namespace fusescope {

/// The page of an open model: the graph in the middle, docks at its sides and below it. By default the docks below are
/// closed, and those at the sides fold automatically if the window is narrow, so that the graph has more room. Docks
/// keep their proportion of the window until the user drags one to another size. GUI thread only.
class Room : public QWidget {
  Q_OBJECT

 public:
  explicit Room(std::function<const Theme&()> theme);
  /// Returns the column with the graph, and what is above and below it.
  QVBoxLayout& column() { return *m_column; }
  const QWidget& graph() const { return *m_graph; }
  /// Sets the widget that gets the keyboard focus when a dock that had it is folded.
  void setMain(QWidget* widget) { m_graph->setFocusProxy(widget); }

  void add(Dock* dock, const DockForm& form);
  /// Brings the dock to the front, and unfolds its side permanently.
  void open(Dock* dock);
  /// Folds the side of the dock permanently.
  void fold(const Dock* dock) { setFoldChoice(sideOf(dock), FoldChoice::Folded); }
  void toggle(Qt::DockWidgetArea side);
  /// Returns whether it is in front, and its side is not folded.
  bool isOpen(const Dock* dock) const;
  DockArea& areaOf(const Dock* dock) { return *sideOf(dock).area; }
  DockArea& area(Qt::DockWidgetArea side) { return *sideAt(side).area; }
  /// Restores the default layout.
  void reset();
  /// Returns the user's choices, so that they can be stored.
  QJsonObject state() const;
  void restore(const QJsonObject& state);
  void renewTheme();

 signals:
  void frontChanged();  ///< another dock became visible, or one became invisible

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  enum class FoldChoice { None, Open, Folded };  ///< the choice of the user
  struct Side {
    Qt::DockWidgetArea at;
    DockArea* area;
    double share;     ///< the share of the room
    int least, most;  ///< limits of the size that the share gives
    int foldsBelow;   ///< if the room is narrower, the side is folded unless the user chose otherwise
    FoldChoice choice = FoldChoice::None;
    int dragged = 0;  ///< the size that the user chose; 0 if there is none
    bool isBelow() const { return at == Qt::BottomDockWidgetArea; }
  };
  Side& sideAt(Qt::DockWidgetArea at);
  Side& sideOf(const Dock* dock);
  void setFoldChoice(Side& side, FoldChoice choice);
  bool folded(const Side& side) const;
  /// Returns its size in the present room, in pixels.
  int wanted(const Side& side) const;
  void fit();
  void noteDragged();

  QSplitter *m_across, *m_down;
  QWidget* m_graph;
  QVBoxLayout* m_column;
  Side m_sides[3];
};

}  // namespace fusescope
