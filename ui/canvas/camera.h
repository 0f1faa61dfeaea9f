#pragma once

#include <QPointF>
#include <QRectF>
#include <QSizeF>

namespace fusescope {

/// The part of a scene that a view shows: view = (scene - origin) * zoom. It is a value, so that two views can show the
/// same part.
struct Camera {
  /// The limits for zooming by hand. show() may zoom out further to show something large completely.
  static constexpr double kLeastZoom = 0.005, kMostZoom = 4.0;
  /// The margin around what show() shows, in view pixels.
  static constexpr double kMargin = 32;
  /// The smallest zoom at which boxes have room for titles in legible letters: below a zoom of 1 a title uses its whole
  /// box.
  static constexpr double kLegible = 0.5;

  QPointF origin;   ///< the scene point at the view's upper left corner
  double zoom = 1;  ///< device-independent pixels per scene unit

  QRectF toView(const QRectF& rect) const { return {(rect.topLeft() - origin) * zoom, rect.size() * zoom}; }
  QPointF toScene(const QPointF& point) const { return point / zoom + origin; }
  QRectF visible(const QSizeF& view) const { return {origin, view / zoom}; }

  /// Zooms around `viewPoint`, which stays in place. Does not zoom out further if the zoom is below kLeastZoom already.
  void zoomAt(const QPointF& viewPoint, double factor);
  void centreOn(const QPointF& scenePoint, const QSizeF& view);
  /// Shows all of `rect` with `margin` view pixels around it, at a zoom of at most `most`.
  void show(const QRectF& rect, const QSizeF& view, double margin, double most);

  bool operator==(const Camera& other) const = default;
};

}  // namespace fusescope
