#include <algorithm>
#include <cmath>

#include "ui/canvas/graph_view_private.h"

namespace fusescope {
namespace {

constexpr double kReadableFit = 0.5;  // below it the start shows the top of the graph, not all of it
constexpr double kStartZoom = 0.9;    // the least at which every line of a box is large enough
constexpr double kMargin = 32;

}  // namespace

void GraphView::Private::moved() {
  hasCamera = !scene->items.empty();
  placeOverlays();
  minimap->setVisiblePart(visibleScene());
  q->update();
  emit q->cameraChanged(camera);
}

void GraphView::Private::zoomAt(const QPointF& viewPoint, double factor) {
  camera.zoomAt(viewPoint, factor);
  moved();
}

void GraphView::Private::centreOn(const QPointF& scenePoint) {
  camera.centreOn(scenePoint, q->size());
  moved();
}

void GraphView::Private::showRect(const QRectF& rect, double most) {
  camera.show(rect, q->size(), kMargin, most);
  moved();
}

// All of a small graph; of a large one, its beginning, large enough to read.
void GraphView::Private::showStart() {
  showRect(scene->bounds, 1.0);
  if (camera.zoom >= kReadableFit) return;
  double x = 0;
  int count = 0;
  for (std::size_t i = 0; i < scene->items.size(); ++i) {
    if (scene->items[i].kind != ItemKind::Input) continue;
    x += scene->rects[i].center().x();
    ++count;
  }
  camera.zoom = kStartZoom;
  camera.origin.setX((count > 0 ? x / count : scene->bounds.center().x()) - q->width() / (2 * camera.zoom));
  camera.origin.setY(scene->bounds.top() - kMargin);
  moved();
}

bool GraphView::Private::seesBoxes() const {
  const QRectF seen = visibleScene();
  return std::ranges::any_of(scene->itemIndex.meeting(seen), [&](int item) {
    return scene->items[std::size_t(item)].isBox() && seen.intersects(scene->rects[std::size_t(item)]);
  });
}

void GraphView::Private::reveal(const QRectF& rect) {
  const QRectF seen = visibleScene().adjusted(kMargin / camera.zoom, kMargin / camera.zoom, -kMargin / camera.zoom,
                                              -kMargin / camera.zoom);
  if (seen.contains(rect)) return;
  if (camera.zoom < 0.35) camera.zoom = kStartZoom;
  centreOn(rect.center());
}

QRectF GraphView::Private::selectionRect() const {
  QRectF rect;
  for (const int item : selected) rect |= scene->rects[std::size_t(item)];
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
  return m->camera.zoom;
}
void GraphView::setZoom(double zoom) {
  m->zoomAt(QPointF(width(), height()) / 2, zoom / m->camera.zoom);
}
void GraphView::zoomIn() {
  setZoom(m->camera.zoom * 1.25);
}
void GraphView::zoomOut() {
  setZoom(m->camera.zoom / 1.25);
}

const Camera& GraphView::camera() const {
  return m->camera;
}
void GraphView::setCamera(const Camera& camera) {
  if (camera == m->camera) return;
  m->camera = camera;
  m->moved();
}

}  // namespace fusescope
