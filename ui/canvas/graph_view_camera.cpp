#include <algorithm>
#include <cmath>

#include "ui/canvas/graph_view_private.h"

namespace fusescope {
namespace {

constexpr double kLeastZoom = 0.005, kMostZoom = 4.0;
constexpr double kReadableFit = 0.5;  // below it the start shows the top of the graph, not all of it
constexpr double kStartZoom = 0.85;
constexpr double kMargin = 32;

}  // namespace

void GraphView::Private::moved() {
  hasCamera = !scene->items.empty();
  minimap->setVisiblePart(visibleScene());
  q->update();
  emit q->zoomChanged(zoom);
}

void GraphView::Private::zoomAt(const QPointF& viewPoint, double factor) {
  const QPointF fixed = toScene(viewPoint);
  zoom = std::clamp(zoom * factor, kLeastZoom, kMostZoom);
  origin = fixed - viewPoint / zoom;
  moved();
}

void GraphView::Private::centreOn(const QPointF& scenePoint) {
  origin = scenePoint - QPointF(q->width(), q->height()) / (2 * zoom);
  moved();
}

void GraphView::Private::showRect(const QRectF& rect, double most) {
  if (rect.isEmpty()) return;
  const double across = (q->width() - 2 * kMargin) / rect.width();
  const double down = (q->height() - 2 * kMargin) / rect.height();
  zoom = std::clamp(std::min(across, down), kLeastZoom, most);
  centreOn(rect.center());
}

// All of a small graph; of a large one, its beginning, large enough to read.
void GraphView::Private::showStart() {
  showRect(scene->bounds, 1.0);
  if (zoom >= kReadableFit) return;
  double x = 0;
  int count = 0;
  for (const CanvasItem& item : scene->items) {
    if (item.kind != ItemKind::Input) continue;
    x += item.rect.center().x();
    ++count;
  }
  zoom = kStartZoom;
  origin.setX((count > 0 ? x / count : scene->bounds.center().x()) - q->width() / (2 * zoom));
  origin.setY(scene->bounds.top() - kMargin);
  moved();
}

void GraphView::Private::reveal(const QRectF& rect) {
  const QRectF seen = visibleScene().adjusted(kMargin / zoom, kMargin / zoom, -kMargin / zoom, -kMargin / zoom);
  if (seen.contains(rect)) return;
  if (zoom < 0.35) zoom = kStartZoom;
  centreOn(rect.center());
}

QRectF GraphView::Private::selectionRect() const {
  QRectF rect;
  for (const int item : selected) rect |= scene->items[std::size_t(item)].rect;
  return rect;
}

void GraphView::fit() {
  m->showRect(m->scene->bounds, 1.0);
}

void GraphView::centreSelection() {
  const QRectF rect = m->selectionRect();
  if (rect.isEmpty()) return fit();
  if (m->centredOnce) {
    m->showRect(rect, 1.5);
  } else {
    m->centreOn(rect.center());
  }
  m->centredOnce = !m->centredOnce;
}

double GraphView::zoom() const {
  return m->zoom;
}
void GraphView::setZoom(double zoom) {
  m->zoomAt(QPointF(width(), height()) / 2, zoom / m->zoom);
}
void GraphView::zoomIn() {
  setZoom(m->zoom * 1.25);
}
void GraphView::zoomOut() {
  setZoom(m->zoom / 1.25);
}

}  // namespace fusescope
