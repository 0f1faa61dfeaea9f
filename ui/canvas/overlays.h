#pragma once

#include <QPixmap>
#include <QWidget>
#include <functional>
#include <memory>

#include "ui/canvas/canvas_painter.h"

namespace fusescope {

/// What the colours stand for; only those in the picture.
class LegendWidget : public QWidget {
  Q_OBJECT

 public:
  explicit LegendWidget(QWidget* parent);
  void show(const ColorMode& mode, const CanvasColors& colors, const Theme& theme);
  QSize sizeHint() const override { return m_size; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paintScale(QPainter& painter) const;
  QString m_title;
  CanvasColors m_colors;
  bool m_timeScale = false;
  QStringList m_notes;  ///< below the rest
  Theme m_theme;
  QSize m_size;
};

/// The whole graph in a corner, with the part in view; a drag moves that. A graph that is far higher than wide is
/// widened: a line would say nothing.
class MinimapWidget : public QWidget {
  Q_OBJECT

 public:
  explicit MinimapWidget(QWidget* parent);
  void setScene(std::shared_ptr<const CanvasScene> scene, const CanvasColors& colors, const Theme& theme);
  void setVisiblePart(const QRectF& part);  ///< in scene coordinates

 signals:
  void centreWanted(const QPointF& scenePoint);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  void draw(const CanvasColors& colors);
  void moveTo(const QPointF& position);
  QPointF toMap(const QPointF& scenePoint) const;
  std::shared_ptr<const CanvasScene> m_scene;
  Theme m_theme;
  QPixmap m_picture;
  QSizeF m_scale{1, 1};  ///< of the map to the scene, across and down
  QRectF m_part;
};

}  // namespace fusescope
