#pragma once

#include <QPointF>
#include <QRectF>
#include <QSizeF>

namespace fusescope {

/// Where a view looks at a scene: view = (scene - origin) * zoom. A value, so that two views can look at the same
/// place.
struct Camera {
  /// How far one zooms by hand. What is larger than a view at kLeastZoom is still shown whole by show().
  static constexpr double kLeastZoom = 0.005, kMostZoom = 4.0;
  /// Round what is shown whole, in view pixels.
  static constexpr double kMargin = 32;
  /// The least at which boxes have room for their titles in letters that are large enough to read: farther out than 1 a
  /// title has all of its box.
  static constexpr double kLegible = 0.5;

  QPointF origin;   ///< of the scene, at the view's upper left corner
  double zoom = 1;  ///< device-independent pixels per scene unit

  QRectF toView(const QRectF& rect) const { return {(rect.topLeft() - origin) * zoom, rect.size() * zoom}; }
  QPointF toScene(const QPointF& point) const { return point / zoom + origin; }
  QRectF visible(const QSizeF& view) const { return {origin, view / zoom}; }

  /// What is at `viewPoint` stays there. Never makes smaller what is below kLeastZoom already.
  void zoomAt(const QPointF& viewPoint, double factor);
  void centreOn(const QPointF& scenePoint, const QSizeF& view);
  /// All of `rect` with `margin` view pixels around it, no larger than `most`.
  void show(const QRectF& rect, const QSizeF& view, double margin, double most);

  bool operator==(const Camera& other) const = default;
};

}  // namespace fusescope
