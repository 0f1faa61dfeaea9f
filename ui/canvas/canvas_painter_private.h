#pragma once

#include "ui/canvas/canvas_painter.h"

namespace fusescope {

/// One picture of a scene. `i` is an item throughout.
class CanvasPainter {
 public:
  CanvasPainter(QPainter& painter, const CanvasScene& scene, const CanvasLook& look, const QRectF& visible,
                double scale)
      : m_painter(painter),
        m_scene(scene),
        m_look(look),
        m_theme(*look.theme),
        m_visible(visible),
        m_scale(scale),
        m_detail(detailAt(scale)),
        m_edges(scene.edgeIndex.meeting(visible.adjusted(-kCastReach, -20, kCastReach, 20))) {}

  void paint();

 private:
  static constexpr double kCastReach = 80;  ///< of the words beside a cast's mark
  bool meets(const QRectF& rect) const { return rect.intersects(m_visible); }
  bool isSelected(int i) const { return m_look.selected != nullptr && m_look.selected->contains(i); }
  bool isMatch(int i) const { return m_look.matches != nullptr && m_look.matches->contains(i); }
  bool isFaded(int i) const { return m_look.matches != nullptr && !m_look.matches->contains(i) && !isSelected(i); }
  double pixels(double p) const { return p / m_scale; }  // device-independent pixels in scene units

  // canvas_painter.cpp
  std::vector<int> visibleItems() const;
  QRectF rectOf(int i) const;
  QPen outline(int i, const QColor& usual) const;
  void container(int i);
  void veil(const QRectF& rect, const QColor& ground);
  void header(int i);
  void marker(const QPointF& at, const QColor& color, double grow, bool hollow);
  void focusRing(int i, const QRectF& rect);
  void failureFrame(int i, const QRectF& rect);
  void failureText();
  void box(int i);
  void hatch(const QRectF& rect, double radius);
  void farBox(int i, const QRectF& rect, const QColor& color);
  void stripe(const QRectF& rect, const QColor& color, const CanvasItem& item);
  void nameOnly(const CanvasItem& item, const QRectF& rect, int i);
  void pillText(const CanvasItem& item, const QRectF& rect, int i);
  void boxText(const CanvasItem& item, const QRectF& rect, int i);
  void badge(const QPointF& topRight, int i);
  void stubs(const CanvasItem& item, const QRectF& rect);

  // canvas_painter_edges.cpp
  bool isLit(const CanvasEdge& edge) const;
  void edges();
  void arrow(const CanvasCurves::Points& points, const QColor& color);
  void castMarks();
  void edgeLabels();  ///< of casts and types, none upon another
  /// Text in the middle of a plate that hides most of what is below it.
  void textOnGround(const QRectF& rect, double opacity, const QColor& color, const QString& text);

  QPainter& m_painter;
  const CanvasScene& m_scene;
  const CanvasLook& m_look;
  const Theme& m_theme;
  const QRectF m_visible;
  const double m_scale;
  const Detail m_detail;
  const std::vector<int> m_edges;  ///< that may be seen, with what stands beside them
};

}  // namespace fusescope
