#pragma once

#include <QToolButton>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "ui/canvas/graph_view.h"
#include "ui/ribbon/ribbon_painter.h"
#include "ui/ribbon/ribbon_progress.h"
#include "ui/ribbon/ribbon_source.h"
#include "ui/ribbon/ribbon_words.h"

class QMenu;

namespace fusescope {

/// Shows the whole network above the canvas in the order in which it runs: a bar for each fused node, as wide as its
/// time, below the blocks that contain it. It serves as overview, profile, minimap and progress display. A drag or the
/// wheel zooms its axis; a click selects something and shows it on the canvas. If two runs are compared, each has a
/// lane, with the differences between them. It is used on the GUI thread only; its contents are made on other threads.
class Ribbon : public QWidget {
  Q_OBJECT

 public:
  Ribbon(const DockContext& context, GraphView& canvas, QWidget* parent = nullptr);
  ~Ribbon() override;

  const RibbonPicture& picture() const { return *m_source.picture(); }
  const std::shared_ptr<const RibbonPicture>& sharedPicture() const { return m_source.picture(); }
  const RibbonLook& look() const { return m_look; }
  const RibbonRange& range() const { return m_range; }
  RibbonWidth widthBy() const { return m_source.width(); }
  void setWidthBy(RibbonWidth width);
  void setTheme(const Theme& theme);
  bool isZoomed() const;
  void zoomTo(const RibbonRange& range);
  void zoomOut();
  /// Returns whether everything that was requested is displayed.
  bool idle() const { return m_source.idle(); }

  /// Returns the bar at `position`; nothing if there is none. Among bars that are drawn as one, it is the one at that
  /// position.
  std::optional<RibbonSpot> spotAt(const QPointF& position) const;
  /// Returns where a bar is drawn; empty if its row is not displayed or it is out of view.
  QRect rectOf(const RibbonSpot& spot) const;
  /// Selects the fused node of a bar, or all nodes of a block, and shows it on the canvas.
  void choose(const RibbonSpot& spot);
  QString tooltipAt(const QPointF& position) const;
  QString describe(const RibbonSpot& spot) const;
  /// Returns the text beside a lane, line by line.
  QStringList laneText(std::size_t lane) const;
  /// Returns the text between a lane and the one below it.
  TotalDelta deltaBelow(std::size_t upper) const;
  void fillMenu(QMenu& menu);
  /// Receives the progress of the worker's other work from WorkerClient::progressReported(). Searches for pins and
  /// calibrations are displayed.
  void showWorkProgress(const WorkSettings& work, const QString& phase, const QString& detail);
  static QStringList keyHelp();

 signals:
  void hideRequested();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;  ///< watches the height of the window

 private:
  void takePicture();
  void fitHeight();
  void showSelection();
  void showFailure();
  void showProgress();
  void findPlaces();  ///< finds where the canvas shows each kernel
  void findInView();
  void setRange(RibbonRange range);
  void keepEdges();
  /// Returns the range to which the user zoomed, in a picture with other widths. Returns nothing if the user did not
  /// zoom, or if the kernels no longer exist.
  std::optional<RibbonRange> rangeOfEdges() const;
  void zoomAt(double x, double factor);
  void pan(double pixels);
  QRectF axis() const;
  RibbonScale scale() const;
  std::vector<RibbonBand> bands() const { return ribbonBands(picture(), m_range, axis()); }
  const RibbonRow& rowOf(const RibbonSpot& spot) const;
  const RibbonBar& barOf(const RibbonSpot& spot) const { return rowOf(spot).bars()[spot.bar]; }
  std::vector<NodeId> nodesOf(const RibbonSpot& spot, std::string& kernel) const;
  void walk(int key);
  void stepRow(int by);
  void setCurrent(const RibbonSpot& spot);
  void activate(const RibbonSpot& spot);
  void paintTotals(QPainter& painter) const;
  void fillLaneMenu(QMenu& menu);

  DockContext m_context;
  GraphView& m_canvas;
  RibbonSource m_source;
  RibbonLook m_look;
  RibbonRange m_range;
  /// handles of the kernels at the ends of the range; empty if all is shown
  std::pair<std::string, std::string> m_edges;
  const Model* m_model = nullptr;  ///< the model whose picture is shown; it is not dereferenced
  ProgressFollower m_progress, m_otherProgress;
  struct Heard {
    WorkSettings work;
    QString phase, detail;
  };
  std::optional<Heard> m_heard;  ///< the progress of work that belongs to no run; nothing if there is none
  std::vector<QRectF> m_places;  ///< by kernel of the last lane: its place on the canvas
  bool m_placesStale = true, m_inViewStale = true;
  QToolButton* m_menu;
  QPointF m_pressAt;
  RibbonRange m_rangeAtPress;
  enum class Drag { None, Undecided, Brush, Pan } m_drag = Drag::None;
};

}  // namespace fusescope
