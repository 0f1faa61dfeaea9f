#pragma once

#include <QBasicTimer>
#include <QElapsedTimer>
#include <QPointer>
#include <QRubberBand>
#include <QTimer>

#include "planning/cover.h"
#include "planning/module_tree.h"
#include "ui/canvas/camera.h"
#include "ui/canvas/canvas_look.h"
#include "ui/canvas/canvas_view.h"
#include "ui/canvas/layout_runner.h"
#include "ui/canvas/legend.h"
#include "ui/canvas/overlays.h"

namespace fusescope {

class GraphView;

/// The state of a GraphView, which the sources of its name share. Scene coordinates are layout pixels.
struct GraphViewState {
  explicit GraphViewState(GraphView* view);

  // graph_view.cpp
  void request();
  void take(std::shared_ptr<const CanvasScene> next, double milliseconds);
  int anchorIn(const CanvasScene& before, const CanvasScene& next) const;
  void recolor();
  void showColors();  ///< in the legend, the overview and the picture
  void resolveSelection();
  void findMatches();         ///< of the query
  void changed(bool byUser);  ///< the selection
  void placeOverlays();
  QPoint legendPlace() const;
  void setOpen(const QString& name, bool open);
  /// Opens segments and blocks around what `names` stand for; whether any was closed.
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
  double proportion() const;  ///< about that of the canvas, width to height
  bool seesAll() const;       ///< the whole picture is in view
  bool seesBoxes() const;     ///< a box is in view
  /// Brings `rect` into view. `legibly`: large enough to be read, too.
  void reveal(const QRectF& rect, bool legibly = false);
  void revealSelection();
  QRectF selectionRect() const;
  QRectF lookedAt(int item) const;  ///< all of a box; of a container that is open, its header

  // graph_view_walk.cpp
  void walk(int key);
  void stepMatch(int by);
  int current() const;  ///< the item that has the keyboard, or -1
  void choose(int item, bool add);
  int nearestAlong(int item, bool down) const;
  int sibling(int item, bool right) const;
  int firstChild(int item) const;
  /// The time on a box in words: "~0.12 ms fitted to other kernels". Empty where none is known.
  QString timeText(int item) const;
  QString errorsText(int item) const;
  QString differenceText(int item) const;  ///< what a comparison says of it; empty: nothing
  QString describe(int item) const;        ///< for a screen reader
  QString tooltipAt(const QPointF& viewPoint) const;
  /// Handle of the container that `name` stands for or is in, and that can be opened; empty: none.
  QString openableOf(const QString& name) const;

  CanvasLook look();

  GraphView* q;
  Theme theme = Theme::dark();
  const ColorMode* mode = colorModes().front();
  std::shared_ptr<const Cover> cover;
  std::shared_ptr<const ModuleTree> modules;
  QString said;  ///< whose kernels these are
  std::shared_ptr<const CanvasScene> scene = std::make_shared<CanvasScene>();
  std::shared_ptr<const CanvasOverlay> overlay;
  bool isGiven = false;  ///< somebody else makes the scenes
  const Model* sceneModel =
      nullptr;  ///< whose layout is shown: another model starts with a fresh camera. Not dereferenced.
  const Model* wantedModel = nullptr;
  OpenState open;
  bool atRest = false;           ///< what is open is chosen for the next scene
  OpenState restOpen;            ///< what was chosen so last
  QSize restSize;                ///< of the view that it was chosen for
  bool revealsWhenDone = false;  ///< the selection, which is in a container that opens
  CanvasColors colors;
  CanvasNumbers numbers;
  std::optional<CanvasView> nextView;
  std::function<QString(const QString&)> summary;
  LayoutRunner runner;

  Camera camera;
  bool hasCamera = false;
  Camera restingAt;      ///< where it stood when all, or the start, was shown: nobody has moved it since if it is there
  bool isStart = false;  ///< it was the start
  double askedProportion = 0;  ///< of the layout under way
  QTimer settle;               ///< a canvas of another size is laid out for when all around it has its size

  QString failing;  ///< as setFailing() says
  int failingItem = -1;
  QStringList selection;  ///< names as they were chosen
  QSet<int> selected;     ///< the items that stand for them
  QString currentName;
  QString anchorKey;      ///< the item that keeps its place when the next scene comes
  bool wasWhole = false;  ///< all of the picture was in view when another was asked for: so is the next one
  int hovered = -1;
  bool centredOnce = false;

  QString query;
  QSet<int> matches;
  std::vector<int> matchEntries;
  int matchIndex = -1;

  // Transition from the last scene.
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
  QStringList only;        ///< keys of the lines of the legend that are not dimmed; empty: nothing is
  QSet<QString> onlyKeys;  ///< the same
  MinimapWidget* minimap = nullptr;
  bool wantsLegend = true, wantsMinimap = true;
  QString notice;  ///< in the middle of an empty canvas
};

}  // namespace fusescope
