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
#include "planning/module_tree.h"
#include "ui/canvas/camera.h"
#include "ui/canvas/container_kinds.h"
#include "ui/document/shown_error.h"
#include "ui/document/shown_time.h"
#include "ui/theme/theme.h"

namespace fusescope {

struct CanvasOverlay;
struct CanvasScene;
struct ColorMode;

/// The graph of a cover: segments as containers, fused nodes as boxes that open in place. GUI thread only; scenes are
/// built and laid out elsewhere, so that a call returns at once and layoutFinished() tells when the picture is there.
/// Names in the interface are those of the cover: of nodes, fused nodes, segments, and values (inputs and outputs). A
/// fused node is also, and in what is given out, known by its handle (planning/fused_node_facts.h), which a name that
/// two kernels share, or another cover, does not mix up.
/// Keys, wheel and drags: see keyHelp().
class GraphView : public QWidget {
  Q_OBJECT

 public:
  explicit GraphView(QWidget* parent = nullptr);
  ~GraphView() override;

  /// Null shows an empty canvas. What is open, selected and where it stands on the screen survives a new cover. `said`:
  /// whose kernels these are, for the legend; empty: it is not said. `modules`: the blocks that are drawn, of the
  /// cover's model; null: none.
  void setCover(std::shared_ptr<const Cover> cover, const QString& said = {},
                std::shared_ptr<const ModuleTree> modules = nullptr);
  std::shared_ptr<const Cover> cover() const;
  /// In place of a cover, a scene that somebody else made, with what is to be drawn on it. What the user opens or
  /// closes is asked for by openWanted(). What is selected, and where it stands on the screen, survives a new scene of
  /// the same `model`, which is not dereferenced.
  void setScene(std::shared_ptr<const CanvasScene> scene, std::shared_ptr<const CanvasOverlay> overlay,
                const OpenState& open, const Model* model);
  std::shared_ptr<const CanvasOverlay> overlay() const;
  std::shared_ptr<const CanvasScene> scene() const;
  /// Times of a run; where it has none, what was predicted is shown.
  void setTimes(ShownTimes times);
  /// What the types of each fused node do, as a run says.
  void setErrors(ShownErrors errors);
  /// Marks what `name` stands for as where the shown run first goes wrong; empty: nothing.
  void setFailing(const QString& name);
  void setColorMode(const ColorMode& mode);
  const ColorMode& colorMode() const;
  void setTheme(const Theme& theme);
  /// Text for the tooltip of the item of that name: why it is as it is. Called on the GUI thread, must be quick.
  void setSummaryProvider(std::function<QString(const QString& handle)> provider);
  /// Moves boxes from where they were to where they go. Off by default on the offscreen platform.
  void setAnimated(bool animated);
  void setMinimapVisible(bool visible);
  void setLegendVisible(bool visible);
  /// Dims all but what has the lines of the legend with these keys (LegendLine::key); empty: nothing is dimmed. It
  /// stays for other plans of the network and ends when another mode is chosen.
  void showOnly(const QStringList& keys);
  QStringList shownOnly() const;
  bool hasLegend() const;  ///< it is in sight
  void focusLegend();      ///< gives it the keyboard

  /// What is open and what the camera sees, to stand so again after setCover() of the same model, in another window
  /// too.
  struct View {
    OpenState open;
    bool atRest = false;  ///< what is open is not known: it is chosen as of a network that is opened
    QPointF centre;       ///< in layout pixels
    double zoom = 0;      ///< 0: wherever a network that is opened begins
    QStringList only{};   ///< as showOnly() takes it; of the colour mode that is set when the cover comes
  };
  View view() const;
  /// Taken when the next cover of another model is set.
  void setNextView(View view);

  /// Opens or closes a fused node or a segment. Unknown names are ignored.
  void expand(const QString& name);
  void collapse(const QString& name);
  void toggle(const QString& name);
  bool isOpen(const QString& name) const;
  void expandAll();    ///< every container
  void collapseAll();  ///< what is open is as when the network was opened, in a view of this size

  /// Selects what the names stand for; a node inside a closed fused node selects that box. Brings it into view if
  /// `reveal`: segments and blocks around it open (of many names, those around the last). Does not emit
  /// selectionChanged(): the caller knows.
  void select(const QStringList& names, bool reveal = true);
  QStringList selection() const;

  /// Marks boxes, nodes and tensors whose name or operator contains `text` (case does not matter); returns how many
  /// nodes and inputs/outputs match. Empty text ends the search.
  int search(const QString& text);
  int matchCount() const;
  void nextMatch();
  void previousMatch();

  /// Brings the items that the names stand for into view; false: there are none. A large one is shown whole.
  bool showNames(const QStringList& names);
  void fit();              ///< everything
  void centreSelection();  ///< and, when called again, fits it
  double zoom() const;     ///< 1: layout pixels are device-independent pixels
  void setZoom(double zoom);
  /// Where it looks. Two views of one cover that are given each other's camera stay together.
  const Camera& camera() const;
  void setCamera(const Camera& camera);
  void zoomIn();
  void zoomOut();

  Status exportSvg(const QString& path) const;
  Status exportPng(const QString& path, double scale = 1.0) const;
  /// The whole picture, fitted into `target`.
  void renderTo(QPainter& painter, const QRectF& target) const;
  /// Runs the event loop until nothing is being laid out or drawn in motion; false if that took longer.
  bool waitForLayout(int msec);

  /// Where the item that stands for `name` is drawn, in this widget's coordinates; empty if it is not.
  QRect itemRect(const QString& name) const;
  /// The same where the camera looks at, whatever that sees; it sees camera().visible(size()).
  QRectF placeOf(const QString& name) const;
  /// The name of the innermost item under `position`; empty over empty canvas.
  QString nameAt(const QPoint& position) const;
  int boxCount() const;          ///< boxes in the picture, open containers not counted
  QString layoutEngine() const;  ///< "graphviz" or "layered"
  /// How many items' colours have been looked up in this thread since the theme, the colours or the scene last changed.
  std::size_t itemsColored() const;
  /// Levels (what one container holds) that were laid out so far; what was kept from before is not counted. When no
  /// layout is under way.
  std::size_t levelsLaidOut() const;
  /// "Keys — what they do", one line each, for the help overlay.
  static QStringList keyHelp();

 signals:
  void selectionChanged(const QStringList& handles);  ///< by the user
  void nodeActivated(const QString& name);            ///< Return, or a double click on what cannot be opened
  void contextMenuRequested(const QStringList& names, const QPoint& globalPosition);
  void hovered(const QString& name);
  void openWanted(const fusescope::OpenState& open);  ///< of a scene that was given
  void layoutStarted();
  void layoutFinished(const QString& engine, double milliseconds);
  void layoutWarning(const QString& text);  ///< slow, or the helper failed and what was done instead
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
  struct Private;
  friend struct Private;
  std::unique_ptr<Private> m;
};

}  // namespace fusescope
