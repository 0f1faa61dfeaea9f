#pragma once

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/canvas/canvas_look.h"
#include "ui/canvas/canvas_metrics.h"

namespace fusescope {

/// Paints the part of the scene that meets `visible`. The painter uses scene coordinates. `scale` is the number of
/// device-independent pixels per scene unit and determines the detail.
void paintCanvas(QPainter& painter, const CanvasScene& scene, const CanvasLook& look, const QRectF& visible,
                 double scale);

/// Paints one picture of a scene. `i` is always the index of an item.
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
  static constexpr double kWordsFrom = 0.62;
  static constexpr double kCastReach = 160;  ///< the width of the words beside the mark of a cast
  bool meets(const QRectF& rect) const { return rect.intersects(m_visible); }
  bool isSelected(int i) const { return m_look.selected != nullptr && m_look.selected->contains(i); }
  bool isMatch(int i) const { return m_look.matches != nullptr && m_look.matches->contains(i); }
  bool isFaded(int i) const {
    const bool isNoMatch = m_look.matches != nullptr && !m_look.matches->contains(i);
    return !isSelected(i) && (isNoMatch || isLeftOut(i) || fadesInOverlay(i));
  }
  /// Returns whether the item is dimmed because of the chosen lines of the legend.
  bool isLeftOut(int i) const {
    return m_look.only != nullptr && !m_look.only->contains(m_look.colors->of(std::size_t(i)).key);
  }
  double pixels(double p) const { return p / m_scale; }  // device-independent pixels in scene units
  /// Returns whether letters of `size` scene units are legible.
  bool isLegible(double size) const { return size * m_scale >= metrics::kLeastPixels - 0.01; }
  /// Returns whether boxes are large enough for badges with words; from farther out a corner represents them.
  bool hasWords() const { return m_scale >= kWordsFrom; }
  /// Paints text in the painter's font, unless it would be too small to be read.
  void text(const QRectF& rect, int flags, const QString& text);
  /// Returns the size of letters: `size` scene units, or more if they would not be legible.
  int legiblePixels(int size) const { return std::max(size, int(std::ceil(pixels(metrics::kLeastPixels) - 0.01))); }

  // canvas_painter.cpp
  std::vector<int> visibleItems() const;
  QRectF rectOf(int i) const;
  QPen outline(int i, const QColor& usual) const;
  void breakFrame(QPen& pen, int i, bool dashed) const;
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
  void stripe(const QRectF& rect, const QColor& color, int i);
  QColor secondColor(int i) const;  ///< the colour of a second type in the item; invalid if there is none
  void nameOnly(const CanvasItem& item, const QRectF& rect, int i);
  void pillText(const CanvasItem& item, const QRectF& rect, int i);
  void boxText(const CanvasItem& item, const QRectF& rect, int i);

  // canvas_painter_badges.cpp
  /// Paints the badge with the item's type, or with what the colour mode says.
  void badge(const QPointF& topRight, int i);
  double typeBadgeWidth(int i) const;
  double badgeHeight() const { return m_detail == Detail::Full ? 15 : 1.5 * legiblePixels(metrics::kMetaPixels); }
  /// Paints badges with words at the upper edge of a box.
  void badges(int i, const QRectF& rect);
  /// Paints, in place of the badges of a small box, a corner in the colour of the most important mark, and the number
  /// of marks.
  void badgeCorner(int i, const QRectF& rect);
  double cornerSide(int i, const QRectF& rect) const;  ///< 0 if there is no mark
  void stubs(const CanvasItem& item, const QRectF& rect);

  // canvas_painter_overlay.cpp
  bool fadesInOverlay(int i) const;  ///< whether the item is faded because both sides of a comparison are equal there
  QColor diffColor(DiffSign sign) const;
  /// Returns the pen of an edge, which is `usual` if nothing is compared.
  QPen comparedPen(int edge, const QPen& usual) const;
  QRectF bridgeOf(int edge) const;
  void kernelFrames();
  void kernelLabels();
  void diffMarks();
  void diffChip(const QRectF& rect, DiffSign sign, const QString& words, std::vector<QRectF>& taken);

  // canvas_painter_edges.cpp
  bool isLit(const CanvasEdge& edge) const;
  void edges();
  void arrow(const CanvasCurves::Points& points, const QColor& color);
  void castMarks();
  void edgeLabels();  ///< labels of casts and types, which do not cover each other
  /// Paints text in the middle of a plate that hides most of what is below it.
  void textOnGround(const QRectF& rect, double opacity, const QColor& color, const QString& text);

  QPainter& m_painter;
  const CanvasScene& m_scene;
  const CanvasLook& m_look;
  const Theme& m_theme;
  const QRectF m_visible;
  const double m_scale;
  const Detail m_detail;
  const std::vector<int> m_edges;  ///< the edges that may be visible, with their labels
};

}  // namespace fusescope
