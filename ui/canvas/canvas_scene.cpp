#include "ui/canvas/canvas_scene.h"

#include <algorithm>
#include <cmath>

#include "planning/read_back/read_back_plan.h"
#include "ui/canvas/canvas_metrics.h"
#include "ui/canvas/container_kinds.h"

namespace fusescope {
namespace {

QPointF onCubic(const QPointF* p, double t) {
  const double s = 1 - t;
  return p[0] * (s * s * s) + p[1] * (3 * s * s * t) + p[2] * (3 * s * t * t) + p[3] * (t * t * t);
}

double distanceToSegment(const QPointF& point, const QPointF& a, const QPointF& b) {
  const QPointF along = b - a;
  const double length = QPointF::dotProduct(along, along);
  const double t = length == 0 ? 0 : std::clamp(QPointF::dotProduct(point - a, along) / length, 0.0, 1.0);
  const QPointF gap = point - (a + along * t);
  return std::hypot(gap.x(), gap.y());
}

double distanceTo(const CanvasCurves::Points& points, const QPointF& point) {
  constexpr int kSteps = 12;
  double nearest = 1e30;
  for (std::size_t i = 0; i + 3 < points.size(); i += 3) {
    QPointF last = points[i];
    for (int step = 1; step <= kSteps; ++step) {
      const QPointF next = onCubic(&points[i], double(step) / kSteps);
      nearest = std::min(nearest, distanceToSegment(point, last, next));
      last = next;
    }
  }
  return nearest;
}

QRectF rectOf(const PlacedRect& r) {
  return QRectF(r.x, r.y, r.width, r.height);
}

}  // namespace

bool CanvasItem::calculates() const {
  return container == nullptr || container->calculates;
}

/// Returns whether the item shows that it is uncertain. In an open block, the kernels show it instead.
bool CanvasItem::isUncertain() const {
  return certainty && *certainty >= Certainty::Derived && !isOpenBlock();
}

bool CanvasItem::isGuessed() const {
  return certainty == Certainty::Guessed && !isOpenBlock();
}

const QString& CanvasItem::handle() const {
  return container != nullptr && container->knownByKey ? key : name;
}

void CanvasCurves::add(Points points) {
  m_points.insert(m_points.end(), points.begin(), points.end());
  m_ends.push_back(static_cast<std::uint32_t>(m_points.size()));
}

void CanvasCurves::reserve(std::size_t edges, std::size_t points) {
  m_ends.reserve(edges);
  m_points.reserve(points);
}

QRectF CanvasCurves::boundsOf(int edge) const {
  const Points points = of(edge);
  if (points.empty()) return {};
  double left = points[0].x(), right = left, top = points[0].y(), bottom = top;
  for (const QPointF& p : points) {
    left = std::min(left, p.x());
    right = std::max(right, p.x());
    top = std::min(top, p.y());
    bottom = std::max(bottom, p.y());
  }
  return {left, top, right - left, bottom - top};
}

int CanvasScene::itemAt(const QPointF& point) const {
  int innermost = -1;  // parents come before the items in them
  for (const int i : itemIndex.meeting(QRectF(point, QSizeF(0, 0)))) {
    if (innermost < 0 || items[i].isBox() || !items[innermost].isBox()) innermost = i;
  }
  return innermost;
}

int CanvasScene::edgeAt(const QPointF& point, double reach) const {
  int nearest = -1;
  for (const int e : edgeIndex.meeting(QRectF(point, QSizeF(0, 0)).adjusted(-reach, -reach, reach, reach))) {
    const double distance = distanceTo(curves.of(e), point);
    if (distance > reach) continue;
    nearest = e;
    reach = distance;
  }
  return nearest;
}

bool CanvasScene::isInside(int item, int container) const {
  for (; item >= 0; item = items[item].parent) {
    if (item == container) return true;
  }
  return false;
}

LayoutContainer containerOf(const CanvasItem& item, int parent) {
  return {item.key.toStdString(), parent, item.container->look.header, metrics::kPadding, item.size.width()};
}

LayoutGraph layoutGraphOf(const CanvasScene& scene) {
  LayoutGraph graph;
  std::vector<int> place(scene.items.size(), -1);  // the index of each item in the list of boxes or of containers
  for (std::size_t i = 0; i < scene.items.size(); ++i) {
    const CanvasItem& item = scene.items[i];
    const int parent = item.parent < 0 ? -1 : place[item.parent];
    if (item.open) {
      place[i] = int(graph.containers.size());
      graph.containers.push_back(containerOf(item, parent));
    } else {
      place[i] = int(graph.boxes.size());
      graph.boxes.push_back({item.key.toStdString(), item.size.width(), item.size.height(), parent});
    }
  }
  for (const CanvasEdge& edge : scene.edges) graph.edges.push_back({place[edge.from], place[edge.to]});
  return graph;
}

EarlierPicture pictureOf(const CanvasScene& scene) {
  const auto rect = [&scene](const std::string& id) -> std::optional<PlacedRect> {
    const int item = scene.itemOfKey(QString::fromStdString(id));
    if (item < 0) return std::nullopt;
    const QRectF& at = scene.rects[std::size_t(item)];
    return PlacedRect{at.x(), at.y(), at.width(), at.height()};
  };
  return {.rectOf = rect, .proportion = scene.proportion};
}

Result<Done> applyGeometry(CanvasScene& scene, const LayoutGeometry& geometry) {
  const auto open = std::count_if(scene.items.begin(), scene.items.end(), [](const CanvasItem& i) { return i.open; });
  if (geometry.containers.size() != std::size_t(open) || geometry.boxes.size() + open != scene.items.size() ||
      geometry.edges.size() != scene.edges.size()) {
    return Diagnostic{.message = "the layout does not fit the graph that was asked for"};
  }
  std::size_t box = 0, container = 0;
  scene.columns.clear();
  const auto takeColumns = [&](int of, int item) {
    if (const auto found = geometry.columns.find(of); found != geometry.columns.end())
      scene.columns[item] = found->second;
  };
  takeColumns(-1, -1);
  scene.rects.clear();
  scene.rects.reserve(scene.items.size());
  for (const CanvasItem& item : scene.items) {
    if (item.open) takeColumns(int(container), int(scene.rects.size()));
    scene.rects.push_back(rectOf(item.open ? geometry.containers[container++] : geometry.boxes[box++]));
  }
  std::size_t points = 0;
  for (const PlacedEdge& edge : geometry.edges) points += edge.points.size();
  scene.curves = {};
  scene.curves.reserve(geometry.edges.size(), points);
  std::vector<QPointF> curve;
  for (const PlacedEdge& edge : geometry.edges) {
    curve.clear();
    for (const PlacedPoint& p : edge.points) curve.emplace_back(p.x, p.y);
    scene.curves.add(curve);
  }
  scene.indexPlaces();
  scene.engine = geometry.engine == LayoutEngine::Graphviz ? QStringLiteral("graphviz") : QStringLiteral("layered");
  return Done{};
}

void CanvasScene::indexPlaces(const CanvasScene* before) {
  std::vector<QRectF> ofEdges;
  ofEdges.reserve(curves.size());
  for (int e = 0; e < int(curves.size()); ++e) ofEdges.push_back(curves.boundsOf(e));
  itemIndex = before == nullptr ? SpatialIndex(rects) : before->itemIndex.moved(rects);
  edgeIndex = before == nullptr ? SpatialIndex(ofEdges) : before->edgeIndex.moved(ofEdges);
  bounds = {};
  for (const QRectF& rect : rects) bounds |= rect;
  for (const QRectF& rect : ofEdges) bounds |= rect;
}

}  // namespace fusescope
