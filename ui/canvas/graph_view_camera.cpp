#include <algorithm>
#include <cmath>

#include "ui/canvas/canvas_metrics.h"
#include "ui/canvas/graph_view.h"
#include "ui/canvas/graph_view_state.h"

namespace fusescope {
namespace {

constexpr double kLegible = Camera::kLegible, kMargin = Camera::kMargin;
constexpr double kStartZoom = 0.9;     // the least zoom at which all lines of a box are large enough to be read
constexpr double kLeastWalked = 0.35;  // when arrow keys select an item, the camera zooms in to at least this
constexpr double kOtherRest = 0.05;    // the relative change of the canvas's size after which other blocks are opened
constexpr double kHeaderWidth = 320;   // the width at the beginning of an open container that is brought into view

}  // namespace

QRectF GraphViewState::visibleScene() const {
  return camera.visible(q->size());
}

void GraphViewState::moved() {
  hasCamera = !scene->items.empty();
  placeOverlays();
  minimap->setVisiblePart(visibleScene());
  q->update();
  emit q->cameraChanged(camera);
}

void GraphViewState::zoomAt(const QPointF& viewPoint, double factor) {
  camera.zoomAt(viewPoint, factor);
  moved();
}

void GraphViewState::centreOn(const QPointF& scenePoint) {
  camera.centreOn(scenePoint, q->size());
  moved();
}

void GraphViewState::showRect(const QRectF& rect, double most) {
  camera.show(rect, q->size(), kMargin, most);
  moved();
}

// Returns the proportion of the canvas rounded to a power of the square root of two, so that small changes of its width
// do not change the picture.
double GraphViewState::proportion() const {
  const double exact = double(std::max(q->width(), 1)) / std::max(q->height(), 1);
  return std::exp2(std::round(2 * std::log2(std::clamp(exact, 0.35, 4.0))) / 2);
}

bool GraphViewState::seesAll() const {
  return hasCamera && visibleScene().contains(scene->bounds);
}

// Adapts the camera to the new size. If the user has not moved it, it is set as for a newly opened picture. If the
// whole picture was visible, it stays visible. Otherwise the middle stays in the middle.
void GraphViewState::resized(const QSize& before) {
  const bool whole = hasCamera && camera.visible(before).contains(scene->bounds);
  const QSize grown = q->size() - before;
  const bool rests = hasCamera && camera == restingAt;
  camera.origin -= QPointF(grown.width(), grown.height()) / (2 * camera.zoom);
  if (rests && isStart) {
    showStart();
  } else if (rests || (whole && !seesAll())) {
    showAll();
  }
  // Which blocks are open is also chosen again, unless the user has opened or closed something.
  const bool free = rests || layingOut();
  const bool reshaped = proportion() != (runner.isRunning() ? askedProportion : scene->proportion);
  const QSize change = q->size() - restSize;
  const bool resized = std::abs(change.width()) > kOtherRest * restSize.width() ||
                       std::abs(change.height()) > kOtherRest * restSize.height();
  const bool chosen = restSize.isValid() && (layingOut() ? atRest : open == restOpen);
  const bool another = chosen && (resized || reshaped);
  if (free && another) atRest = true;
  // This is delayed, because widgets beside the canvas may also be resized and change the canvas again.
  if (free && (another || reshaped)) settle.start();
}

void GraphViewState::showAll() {
  showRect(scene->bounds, 1.0);
  restingAt = camera;
  isStart = false;
}

// Shows the whole picture if it is legible, otherwise its beginning, large enough to be read.
void GraphViewState::showStart() {
  showAll();
  isStart = true;
  if (camera.zoom >= kLegible) return;
  double x = 0;
  int count = 0;
  for (std::size_t i = 0; i < scene->items.size(); ++i) {
    if (scene->items[i].kind != ItemKind::Input) continue;
    x += scene->rects[i].center().x();
    ++count;
  }
  camera.zoom = kStartZoom;
  const double seen = q->width() / camera.zoom, margin = kMargin / camera.zoom;
  const double middle = count > 0 ? x / count : scene->bounds.center().x();
  const double first = scene->bounds.left() - margin, last = scene->bounds.right() + margin - seen;
  camera.origin.setX(first < last ? std::clamp(middle - seen / 2, first, last) : (first + last) / 2);
  camera.origin.setY(scene->bounds.top() - margin);
  restingAt = camera;
  moved();
}

bool GraphViewState::seesBoxes() const {
  const QRectF seen = visibleScene();
  return std::ranges::any_of(scene->itemIndex.meeting(seen), [&](int item) {
    return scene->items[std::size_t(item)].isBox() && seen.intersects(scene->rects[std::size_t(item)]);
  });
}

void GraphViewState::reveal(const QRectF& rect, bool legibly) {
  const QRectF seen = visibleScene().adjusted(kMargin / camera.zoom, kMargin / camera.zoom, -kMargin / camera.zoom,
                                              -kMargin / camera.zoom);
  const bool small = camera.zoom < (legibly ? kLegible : kLeastWalked);
  if (seen.contains(rect) && !(legibly && small)) return;
  if (small) {  // zooms so that it is easy to read, or so that all of it is visible if it consists of several boxes
    const double before = camera.zoom;
    camera.show(rect, q->size(), kMargin, kStartZoom);
    camera.zoom = std::max(camera.zoom, before);
    if (seen.contains(rect) && camera.zoom == before) return;
  }
  centreOn(rect.center());
}

void GraphViewState::revealSelection() {
  if (!selected.isEmpty()) reveal(selected.size() == 1 ? lookedAt(*selected.begin()) : selectionRect(), true);
}

QRectF GraphViewState::selectionRect() const {
  QRectF rect;
  for (const int item : selected) rect |= scene->rects[std::size_t(item)];
  return rect;
}

QRectF GraphViewState::lookedAt(int item) const {
  const QRectF& rect = scene->rects[std::size_t(item)];
  const CanvasItem& of = scene->items[std::size_t(item)];
  if (!of.open) return rect;
  return {rect.topLeft(), QSizeF(std::min(rect.width(), kHeaderWidth), of.container->look.header)};
}

bool GraphView::showNames(const QStringList& names) {
  QRectF rect;
  for (const QString& name : names)
    if (const int item = m->scene->itemOf(name); item >= 0) rect |= m->scene->rects[std::size_t(item)];
  if (rect.isEmpty()) return false;
  const QSizeF room = QSizeF(size()) / m->camera.zoom;
  if (m->camera.zoom >= kLegible && rect.width() < room.width() && rect.height() < room.height()) {
    m->centreOn(rect.center());
  } else {
    m->showRect(rect, 1.0);
  }
  return true;
}

void GraphView::fit() {
  if (m->cover && m->proportion() != m->scene->proportion) {
    m->wasWhole = true;
    m->request();
  }
  m->showAll();
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
