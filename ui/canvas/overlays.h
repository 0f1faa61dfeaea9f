#pragma once

#include <QImage>
#include <QWidget>
#include <functional>
#include <memory>

#include "ui/canvas/canvas_colors.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

/// Shows the whole graph in a corner, with the visible part, which the user can drag. A graph that is much higher than
/// wide is widened, because otherwise it would be only a line.
class MinimapWidget : public QWidget {
  Q_OBJECT

 public:
  explicit MinimapWidget(QWidget* parent);
  /// Sets the scene. The picture is drawn on another thread; until it is ready, the previous one is shown if it is of
  /// the same scene.
  void setScene(std::shared_ptr<const CanvasScene> scene, const CanvasColors& colors);
  bool drawn() const { return m_jobs.idle(); }
  void setVisiblePart(const QRectF& part);  ///< in scene coordinates

 signals:
  void centreWanted(const QPointF& scenePoint);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  void moveTo(const QPointF& position);
  QPointF toMap(const QPointF& scenePoint) const;
  std::shared_ptr<const CanvasScene> m_scene;
  Theme m_theme;
  QImage m_picture;
  QSizeF m_scale{1, 1};  ///< the scale from the map to the scene, horizontally and vertically
  QRectF m_part;
  JobRunner m_jobs;
};

}  // namespace fusescope
