#include "ui/canvas/camera.h"

#include <algorithm>

namespace fusescope {

void Camera::zoomAt(const QPointF& viewPoint, double factor) {
  const QPointF fixed = toScene(viewPoint);
  zoom = std::clamp(zoom * factor, std::min(kLeastZoom, zoom), kMostZoom);
  origin = fixed - viewPoint / zoom;
}

void Camera::centreOn(const QPointF& scenePoint, const QSizeF& view) {
  origin = scenePoint - QPointF(view.width(), view.height()) / (2 * zoom);
}

void Camera::show(const QRectF& rect, const QSizeF& view, double margin, double most) {
  if (rect.isEmpty()) return;
  const QSizeF room = QSizeF(view.width() - 2 * margin, view.height() - 2 * margin).expandedTo(QSizeF(1, 1));
  zoom = std::min({room.width() / rect.width(), room.height() / rect.height(), most});
  centreOn(rect.center(), view);
}

}  // namespace fusescope
