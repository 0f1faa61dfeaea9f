#pragma once

#include <QImage>
#include <QWidget>
#include <functional>
#include <memory>

#include "ui/canvas/canvas_painter.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

/// The whole graph in a corner, with the part in view; a drag moves that. A graph that is far higher than wide is
/// widened: a line would say nothing.
class MinimapWidget : public QWidget {
  Q_OBJECT

 public:
  explicit MinimapWidget(QWidget* parent);
  /// The picture is drawn in another thread; until it is there the one before stands, if it is of the same scene.
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
  QSizeF m_scale{1, 1};  ///< of the map to the scene, across and down
  QRectF m_part;
  JobRunner m_jobs;
};

}  // namespace fusescope
