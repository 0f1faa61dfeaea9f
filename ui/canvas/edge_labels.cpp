#include "ui/canvas/edge_labels.h"

#include <QFontMetricsF>
#include <algorithm>

#include "ui/canvas/canvas_metrics.h"

namespace fusescope {

namespace {

constexpr double kTypesFrom = 0.9;  ///< below this scale only casts have labels
constexpr double kHeight = 16, kPadding = 10, kBesideMark = 9, kMark = 6;
/// The places of a label on an edge's last curve, the best one first.
constexpr double kAlong[] = {0.5, 0.35, 0.65, 0.2, 0.8};

class LabelPlacer {
 public:
  LabelPlacer(const CanvasScene& scene, const CanvasLook& look, const QRectF& visible, const std::vector<int>& edges)
      : m_scene(scene), m_look(look), m_visible(visible), m_font(metaFont()) {
    for (const int i : scene.itemIndex.meeting(visible)) {
      const QRectF& rect = scene.rects[static_cast<std::size_t>(i)];
      if (scene.items[static_cast<std::size_t>(i)].isBox() && rect.intersects(visible)) m_taken.push_back(rect);
      if (look.colors == nullptr) continue;
      const ItemColor& color = look.colors->of(static_cast<std::size_t>(i));
      if (color.marks.empty()) continue;
      for (const PlacedBadge& badge : placeBadges(rect, color.marks, metrics::kMetaPixels, look.colors->theme()))
        m_taken.push_back(badge.rect);
    }
    if (look.failing >= 0) m_taken.push_back(failureWordsPlace(scene.rects[static_cast<std::size_t>(look.failing)]));
    for (const int e : edges) {
      if (scene.edges[static_cast<std::size_t>(e)].cast.isEmpty()) continue;
      const QPointF at = edgePoint(scene.curves.of(e), 0.5);
      if (visible.contains(at)) m_taken.emplace_back(at.x() - kMark, at.y() - kMark, 2 * kMark, 2 * kMark);
    }
  }

  void placeCast(int e) {
    const CanvasEdge& edge = m_scene.edges[static_cast<std::size_t>(e)];
    if (!edge.castCost.isEmpty() && placeCast(e, edge.cast + QStringLiteral(" · ") + edge.castCost)) return;
    placeCast(e, edge.cast);
  }

  /// Returns false if there is no room for the words.
  bool placeCast(int e, const QString& cast) {
    const QPointF at = edgePoint(m_scene.curves.of(e), 0.5);
    if (!m_visible.contains(at)) return false;
    const double width = widthOf(cast);
    const QPointF beside[] = {{at.x() + kBesideMark, at.y() - kHeight / 2},
                              {at.x() - kBesideMark - width, at.y() - kHeight / 2},
                              {at.x() + kBesideMark, at.y() - kHeight},
                              {at.x() - kBesideMark - width, at.y() - kHeight}};
    for (const QPointF& corner : beside)
      if (take(QRectF(corner, QSizeF(width, kHeight)), cast, true)) return true;
    return false;
  }

  void placeType(int e) {
    // The producer's box contains the type already. A label on the edge is useful only if that box is not visible or
    // the edge is highlighted.
    const CanvasEdge& edge = m_scene.edges[static_cast<std::size_t>(e)];
    const bool lit =
        m_look.selected != nullptr && (m_look.selected->contains(edge.from) || m_look.selected->contains(edge.to));
    const auto producer = static_cast<std::size_t>(edge.from);
    const bool inSight = m_scene.items[producer].isBox() && m_scene.rects[producer].intersects(m_visible);
    if (edge.label.isEmpty() || (inSight && !lit)) return;
    const double width = widthOf(edge.label);
    for (const double t : kAlong) {
      const QPointF at = edgePoint(m_scene.curves.of(e), t);
      if (take(QRectF(at.x() - width / 2, at.y() - kHeight / 2, width, kHeight), edge.label, false)) return;
    }
  }

  std::vector<EdgeLabel> takeLabels() { return std::move(m_labels); }

 private:
  double widthOf(const QString& text) const { return m_font.horizontalAdvance(text) + kPadding; }

  bool take(const QRectF& rect, const QString& text, bool cast) {
    if (!rect.intersects(m_visible)) return false;
    const bool free =
        std::none_of(m_taken.begin(), m_taken.end(), [&](const QRectF& other) { return other.intersects(rect); });
    if (!free) return false;
    m_taken.push_back(rect);
    m_labels.push_back({rect, text, cast});
    return true;
  }

  const CanvasScene& m_scene;
  const CanvasLook& m_look;
  const QRectF m_visible;
  const QFontMetricsF m_font;
  std::vector<QRectF> m_taken;
  std::vector<EdgeLabel> m_labels;
};

}  // namespace

QPointF edgePoint(const CanvasCurves::Points& points, double t) {
  const std::size_t last = (points.size() - 1) / 3 - 1;
  const QPointF* p = &points[last * 3];
  const double u = 1 - t;
  return p[0] * (u * u * u) + p[1] * (3 * u * u * t) + p[2] * (3 * u * t * t) + p[3] * (t * t * t);
}

std::vector<EdgeLabel> placeEdgeLabels(const CanvasScene& scene, const CanvasLook& look, const QRectF& visible,
                                       double scale) {
  std::vector<int> edges = scene.edgeIndex.meeting(visible);
  std::erase_if(edges, [&](int e) {
    const bool near = scene.curves.boundsOf(e).adjusted(-1, -1, 1, 1).intersects(visible);
    return !near || scene.curves.of(e).size() < 4;
  });
  const auto isCast = [&](int e) { return !scene.edges[static_cast<std::size_t>(e)].cast.isEmpty(); };
  LabelPlacer placer(scene, look, visible, edges);
  for (const int e : edges)
    if (isCast(e)) placer.placeCast(e);
  for (const int e : edges)
    if (scale >= kTypesFrom && !isCast(e)) placer.placeType(e);
  return placer.takeLabels();
}

}  // namespace fusescope
