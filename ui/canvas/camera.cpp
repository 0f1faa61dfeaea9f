#include "ui/canvas/camera.h"

#include <algorithm>

namespace fusescope {

void Camera::zoomAt(const QPointF& viewPoint, double factor) {
  const QPointF fixed = toScene(viewPoint);
  zoom = std::clamp(zoom * factor, kLeastZoom, kMostZoom);
  origin = fixed - viewPoint / zoom;
}

void Camera::centreOn(const QPointF& scenePoint, const QSizeF& view) {
  origin = scenePoint - QPointF(view.width(), view.height()) / (2 * zoom);
}

void Camera::show(const QRectF& rect, const QSizeF& view, double margin, double most) {
  if (rect.isEmpty()) return;
  const double across = (view.width() - 2 * margin) / rect.width();
  const double down = (view.height() - 2 * margin) / rect.height();
  zoom = std::clamp(std::min(across, down), kLeastZoom, most);
  centreOn(rect.center(), view);
}

}  // namespace fusescope
