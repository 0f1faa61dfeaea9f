#include <QPainterPath>
#include <algorithm>

#include "ui/canvas/canvas_metrics.h"
#include "ui/canvas/canvas_painter.h"
#include "ui/canvas/edge_labels.h"

namespace fusescope {
namespace {

constexpr double kCurvesFrom = 0.22;

QPainterPath pathOf(const CanvasCurves::Points& points) {
  QPainterPath path;
  if (points.empty()) return path;
  path.moveTo(points[0]);
  for (std::size_t p = 0; p + 3 < points.size(); p += 3) path.cubicTo(points[p + 1], points[p + 2], points[p + 3]);
  return path;
}

}  // namespace

bool CanvasPainter::isLit(const CanvasEdge& edge) const {
  if (m_look.selected == nullptr || m_look.selected->isEmpty()) return false;
  for (const int end : {edge.from, edge.to}) {
    if (isSelected(end)) return true;
  }
  return false;
}

void CanvasPainter::edges() {
  const bool curves = m_scale >= kCurvesFrom;
  QColor usual = m_theme.edge;
  if (m_look.matches != nullptr || m_look.only != nullptr) usual = mixed(usual, m_theme.canvas, 0.55);
  usual.setAlphaF(m_look.progress < 1 ? m_look.progress * m_look.progress : 1.0);
  const QPen pen(usual, curves ? 1.4 : 0);
  const QPen lit(m_theme.accent, std::max(2.0, pixels(1.6)));
  std::vector<int> litEdges;
  QVector<QLineF> lines;
  m_painter.setBrush(Qt::NoBrush);
  m_painter.setPen(pen);
  for (const int e : m_edges) {
    const CanvasCurves::Points points = m_scene.curves.of(e);
    if (!m_scene.curves.boundsOf(e).adjusted(-2, -2, 2, 2).intersects(m_visible)) continue;
    if (isLit(m_scene.edges[std::size_t(e)])) {
      litEdges.push_back(e);
    } else if (curves) {
      const QPen own = comparedPen(e, pen);
      const QColor color = own.color();
      m_painter.setPen(own);
      m_painter.drawPath(pathOf(points));
      arrow(points, color);
    } else {
      for (std::size_t p = 0; p + 3 < points.size(); p += 3) lines << QLineF(points[p], points[p + 3]);
    }
  }
  if (!lines.isEmpty()) m_painter.drawLines(lines);
  for (const int e : litEdges) {
    m_painter.setBrush(Qt::NoBrush);
    m_painter.setPen(lit);
    m_painter.drawPath(pathOf(m_scene.curves.of(e)));
    arrow(m_scene.curves.of(e), m_theme.accent);
  }
}

void CanvasPainter::arrow(const CanvasCurves::Points& points, const QColor& color) {
  if (m_detail == Detail::Colors || points.size() < 4) return;
  const QPointF tip = points.back();
  const QPen before = m_painter.pen();
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(color);
  m_painter.drawPolygon(QPolygonF({tip, tip + QPointF(-3.6, -7), tip + QPointF(3.6, -7)}));
  m_painter.setPen(before);
  m_painter.setBrush(Qt::NoBrush);
}

void CanvasPainter::edgeLabels() {
  m_painter.setFont(metaFont());
  if (!isLegible(metrics::kMetaPixels)) return;
  for (const EdgeLabel& label : placeEdgeLabels(m_scene, m_look, m_visible, m_scale)) {
    if (label.cast) {
      textOnGround(label.rect, 0.9, m_theme.warning, label.text);
    } else {
      textOnGround(label.rect, 0.88, m_theme.dimText, label.text);
    }
  }
}

void CanvasPainter::textOnGround(const QRectF& rect, double opacity, const QColor& color, const QString& text) {
  QColor ground = m_theme.container;
  ground.setAlphaF(opacity);
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(ground);
  m_painter.drawRoundedRect(rect, 4, 4);
  m_painter.setPen(color);
  this->text(rect, Qt::AlignCenter, text);
}

// A cast is a diamond on its edge. Its label says what it does if the zoom is large enough.
void CanvasPainter::castMarks() {
  for (const int e : m_edges) {
    const CanvasCurves::Points points = m_scene.curves.of(e);
    if (m_scene.edges[std::size_t(e)].cast.isEmpty() || points.size() < 4) continue;
    const QPointF at = edgePoint(points, 0.5);
    if (!m_visible.adjusted(-kCastReach, -20, kCastReach, 20).contains(at)) continue;
    m_painter.setPen(QPen(m_theme.canvas, 1.5));
    m_painter.setBrush(m_theme.warning);
    m_painter.drawPolygon(
        QPolygonF({at + QPointF(0, -6), at + QPointF(6, 0), at + QPointF(0, 6), at + QPointF(-6, 0)}));
  }
}

}  // namespace fusescope
