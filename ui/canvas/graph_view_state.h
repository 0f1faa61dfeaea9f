#pragma once

#include <QBasicTimer>
#include <QElapsedTimer>
#include <QPointer>
#include <QRubberBand>
#include <QTimer>

#include "planning/cover.h"
#include "planning/patterns/module_tree.h"
#include "ui/canvas/camera.h"
#include "ui/canvas/canvas_look.h"
#include "ui/canvas/canvas_view.h"
#include "ui/canvas/layout_runner.h"
#include "ui/canvas/legend.h"
#include "ui/canvas/overlays.h"

namespace fusescope {

class GraphView;

/// The state of a GraphView, which the source files of the class share. Coordinates of the scene are pixels of the
/// layout.
struct GraphViewState {
  explicit GraphViewState(GraphView* view);

  // graph_view.cpp
  void request();
  void take(std::shared_ptr<const CanvasScene> next, double milliseconds);
  int anchorIn(const CanvasScene& before, const CanvasScene& next) const;
  void recolor();
  void showColors();  ///< in the legend, the overview and the picture
  void resolveSelection();
  void findMatches();         ///< the items that match the query
  void changed(bool byUser);  ///< called when the selection has changed
  void placeOverlays();
  QPoint legendPlace() const;
  void setOpen(const QString& name, bool open);
  /// Opens the segments and blocks around the things that `names` refer to. Returns whether any of them was closed.
  bool openAround(const QStringList& names);

  // graph_view_camera.cpp
  QRectF toView(const QRectF& rect) const { return camera.toView(rect); }
  QPointF toScene(const QPointF& point) const { return camera.toScene(point); }
  QRectF visibleScene() const;
  void moved();
  void zoomAt(const QPointF& viewPoint, double factor);
  void centreOn(const QPointF& scenePoint);
  void showRect(const QRectF& rect, double most);
  void showAll();
  void showStart();
  void resized(const QSize& before);
  bool layingOut() const { return settle.isActive() || runner.isRunning(); }
  double proportion() const;  ///< the approximate ratio of the canvas's width to its height
  bool seesAll() const;       ///< whether the whole picture is visible
  bool seesBoxes() const;     ///< whether a box is visible
  /// Brings `rect` into view. If `legibly` is set, the camera zooms in until it can be read.
  void reveal(const QRectF& rect, bool legibly = false);
  void revealSelection();
  QRectF selectionRect() const;
  /// the part of an item that is brought into view: a box, or the header of an open container
  QRectF lookedAt(int item) const;

  // graph_view_walk.cpp
  void walk(int key);
  void stepMatch(int by);
  int current() const;  ///< the item that has the keyboard focus, or -1
  void choose(int item, bool add);
  int nearestAlong(int item, bool down) const;
  int sibling(int item, bool right) const;
  int firstChild(int item) const;
  /// Returns the time on a box in words, such as "~0.12 ms fitted to other kernels"; empty if it is unknown.
  QString timeText(int item) const;
  QString errorsText(int item) const;
  QString differenceText(int item) const;  ///< what a comparison says about the item; empty if it says nothing
  QString describe(int item) const;        ///< for a screen reader
  QString tooltipAt(const QPointF& viewPoint) const;
  /// Returns the handle of the container that `name` refers to or is in, if the container can be opened; otherwise an
  /// empty text.
  QString openableOf(const QString& name) const;

  CanvasLook look();

  GraphView* q;
  Theme theme = Theme::dark();
  const ColorMode* mode = colorModes().front();
  std::shared_ptr<const Cover> cover;
  std::shared_ptr<const ModuleTree> modules;
  QString said;  ///< describes whose kernels these are
  std::shared_ptr<const CanvasScene> scene = std::make_shared<CanvasScene>();
  std::shared_ptr<const CanvasOverlay> overlay;
  bool isGiven = false;  ///< whether the caller makes the scenes
  const Model* sceneModel =
      nullptr;  ///< whose layout is shown: another model starts with a fresh camera. Not dereferenced.
  const Model* wantedModel = nullptr;
  OpenState open;
  bool atRest = false;           ///< whether the open blocks are chosen for the next scene
  OpenState restOpen;            ///< the blocks that were chosen last
  QSize restSize;                ///< the size of the view for which they were chosen
  bool revealsWhenDone = false;  ///< the selection is revealed when its container has opened
  CanvasColors colors;
  CanvasNumbers numbers;
  std::optional<CanvasView> nextView;
  std::function<QString(const QString&)> summary;
  LayoutRunner runner;

  Camera camera;
  bool hasCamera = false;
  /// the camera after all, or the start, was shown; if it is still the same, the user has not moved it
  Camera restingAt;
  bool isStart = false;        ///< whether the start was shown
  double askedProportion = 0;  ///< the proportion of the layout that is being made
  QTimer settle;               ///< delays a layout for a new size until the widgets around the canvas have their sizes

  QString failing;  ///< see setFailing()
  int failingItem = -1;
  QStringList selection;  ///< the names that were selected
  QSet<int> selected;     ///< the items that represent them
  QString currentName;
  QString anchorKey;      ///< the item that keeps its place in the next scene
  bool wasWhole = false;  ///< whether the whole picture was visible when another one was requested; it then stays so
  int hovered = -1;
  bool centredOnce = false;

  QString query;
  QSet<int> matches;
  std::vector<int> matchEntries;
  int matchIndex = -1;

  // The transition from the last scene.
  bool animated = true;
  std::vector<QRectF> from;
  double progress = 1;
  QElapsedTimer transition;
  QTimer frame;

  QPoint pressAt;
  QPointF originAtPress;
  enum class Drag { None, Undecided, Pan, Band } drag = Drag::None;
  QRubberBand* band = nullptr;
  LegendWidget* legend = nullptr;
  FilterChip* chip = nullptr;
  QStringList only;        ///< keys of the lines of the legend that are not dimmed; empty if nothing is dimmed
  QSet<QString> onlyKeys;  ///< the same keys
  MinimapWidget* minimap = nullptr;
  bool wantsLegend = true, wantsMinimap = true;
  QString notice;  ///< shown in the middle of an empty canvas
};

}  // namespace fusescope
