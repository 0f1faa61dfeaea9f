#pragma once

#include <QPointF>
#include <QStringList>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "planning/cover.h"
#include "planning/patterns/module_tree.h"
#include "ui/canvas/camera.h"
#include "ui/canvas/canvas_view.h"
#include "ui/canvas/container_kinds.h"
#include "ui/document/shown_error.h"
#include "ui/document/shown_time.h"
#include "ui/theme/theme.h"

namespace fusescope {

struct CanvasOverlay;
struct CanvasScene;
struct ColorMode;
struct GraphViewState;

/// Shows the graph of a cover: segments are containers, and fused nodes are boxes that open in place. It is used on the
/// GUI thread only; scenes are built and laid out on other threads, so that calls return at once and layoutFinished()
/// reports when the picture is ready. Names in the interface are those of the cover: of nodes, fused nodes, segments,
/// and values (inputs and outputs). A fused node is also identified by its handle (planning/fused_node_facts.h), which
/// signals always use, because names may be shared by two kernels or mean something else in another cover.
/// keyHelp() describes keys, wheel and drags.
class GraphView : public QWidget {
  Q_OBJECT

 public:
  explicit GraphView(QWidget* parent = nullptr);
  ~GraphView() override;

  /// Sets the cover; null shows an empty canvas. What is open and selected, and where the selection is on screen, is
  /// preserved for a new cover. `said` says for the legend whose kernels these are, and may be empty. `modules` are the
  /// blocks of the cover's model; null: none are drawn.
  void setCover(std::shared_ptr<const Cover> cover, const QString& said = {},
                std::shared_ptr<const ModuleTree> modules = nullptr);
  std::shared_ptr<const Cover> cover() const;
  /// Shows a scene that the caller made, with an overlay, in place of a cover. openWanted() asks the caller to open or
  /// close something. What is selected, and where it is on screen, is preserved for a new scene of the same `model`,
  /// which is not dereferenced.
  void setScene(std::shared_ptr<const CanvasScene> scene, std::shared_ptr<const CanvasOverlay> overlay,
                const OpenState& open, const Model* model);
  std::shared_ptr<const CanvasOverlay> overlay() const;
  std::shared_ptr<const CanvasScene> scene() const;
  /// Sets the times of a run; predictions are shown where it has none.
  void setTimes(ShownTimes times);
  /// Sets the errors of each fused node in a run.
  void setErrors(ShownErrors errors);
  /// Marks what `name` refers to as the place where the displayed run first becomes wrong; empty: nothing.
  void setFailing(const QString& name);
  void setColorMode(const ColorMode& mode);
  const ColorMode& colorMode() const;
  void setTheme(const Theme& theme);
  /// Sets the function that returns the text for an item's tooltip: why it is as it is. It is called on the GUI thread
  /// and must be fast.
  void setSummaryProvider(std::function<QString(const QString& handle)> provider);
  /// Sets whether boxes move smoothly to their new places. Off by default on the offscreen platform.
  void setAnimated(bool animated);
  void setMinimapVisible(bool visible);
  void setLegendVisible(bool visible);
  /// Dims everything except items with the colours of these lines of the legend (LegendLine::key); empty: nothing is
  /// dimmed. This is kept for other plans of the network and ends when another colour mode is chosen.
  void showOnly(const QStringList& keys);
  QStringList shownOnly() const;
  bool hasLegend() const;  ///< it is visible
  void focusLegend();      ///< gives it the keyboard focus

  /// Returns what is open and what the camera shows, so that it can be restored after setCover() of the same model,
  /// also in another window.
  CanvasView view() const;
  /// Sets the view that is used when the next cover of another model is set.
  void setNextView(CanvasView view);

  /// Opens a fused node or a segment, or closes or toggles it. Unknown names are ignored.
  void expand(const QString& name);
  void collapse(const QString& name);
  void toggle(const QString& name);
  bool isOpen(const QString& name) const;
  void expandAll();    ///< every container
  void collapseAll();  ///< restores what was open when the network was opened, for a view of this size

  /// Selects what the names refer to; a node inside a closed fused node selects that box. With `reveal` it is scrolled
  /// into view: segments and blocks around it open (if there are many names, those around the last). Does not emit
  /// selectionChanged(), because the caller knows.
  void select(const QStringList& names, bool reveal = true);
  QStringList selection() const;

  /// Marks boxes, nodes and tensors whose name or operator contains `text`, ignoring case; returns the number of
  /// matching nodes, inputs and outputs. An empty text ends the search.
  int search(const QString& text);
  int matchCount() const;
  void nextMatch();
  void previousMatch();

  /// Scrolls the items that the names refer to into view; a large one is shown completely. Returns false if there are
  /// none.
  bool showNames(const QStringList& names);
  void fit();              ///< shows everything
  void centreSelection();  ///< and fits it in the view if called again
  double zoom() const;     ///< 1: layout pixels are device-independent pixels
  void setZoom(double zoom);
  /// Returns the camera. Two views of one cover stay together if each is given the other's camera.
  const Camera& camera() const;
  void setCamera(const Camera& camera);
  void zoomIn();
  void zoomOut();

  Status exportSvg(const QString& path) const;
  Status exportPng(const QString& path, double scale = 1.0) const;
  /// Paints the whole picture, fitted into `target`.
  void renderTo(QPainter& painter, const QRectF& target) const;
  /// Runs the event loop until no layout or animation is running; returns false if that took longer than `msec`.
  bool waitForLayout(int msec);

  /// Returns where the item for `name` is drawn, in this widget's coordinates; empty if it is not drawn.
  QRect itemRect(const QString& name) const;
  /// Returns the same in scene coordinates, also if it is not visible; camera().visible(size()) is the visible part.
  QRectF placeOf(const QString& name) const;
  /// Returns the name of the innermost item at `position`; empty if there is none.
  QString nameAt(const QPoint& position) const;
  int boxCount() const;          ///< boxes in the picture without open containers
  QString layoutEngine() const;  ///< "graphviz" or "layered"
  /// Returns how many items' colours were computed in this thread since the theme, the colours or the scene last
  /// changed.
  std::size_t itemsColored() const;
  /// Returns how many levels (contents of one container) were laid out so far; reused ones are not counted. Call it
  /// while no layout is running.
  std::size_t levelsLaidOut() const;
  /// Returns "Keys — what they do", one line each, for the help overlay.
  static QStringList keyHelp();

 signals:
  void selectionChanged(const QStringList& handles);  ///< by the user
  void nodeActivated(const QString& name);            ///< by Return, or by a double click on an item that cannot be
                                                      ///< opened
  void contextMenuRequested(const QStringList& names, const QPoint& globalPosition);
  void hovered(const QString& name);
  void openWanted(const fusescope::OpenState& open);  ///< for a scene that the caller made
  void layoutStarted();
  void layoutFinished(const QString& engine, double milliseconds);
  void layoutWarning(const QString& text);  ///< the layout is slow, or the helper failed and what was done instead
  void searchChanged(int current, int count);
  void searchCleared();  ///< by Esc
  void cameraChanged(const fusescope::Camera& camera);
  void colorModeChanged();
  void shownOnlyChanged(const QStringList& keys);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  friend struct GraphViewState;
  std::unique_ptr<GraphViewState> m;
};

}  // namespace fusescope
