#pragma once

#include <vector>

#include "ui/canvas/canvas_painter.h"

namespace fusescope {

/// Text beside an edge, in scene coordinates.
struct EdgeLabel {
  QRectF rect;
  QString text;
  bool cast = false;  ///< it says what a cast does and takes; else the type that the edge carries
};

/// The point of an edge's last curve, where it has a place of its own, at `t` of 0 … 1.
QPointF edgePoint(const CanvasCurves::Points& points, double t);

/// The labels of the edges in sight: of all casts, and of the types where the producer is out of sight or the edge is
/// lit. None lies upon another, upon a cast's mark or upon a box; one that finds no place is left out.
std::vector<EdgeLabel> placeEdgeLabels(const CanvasScene& scene, const CanvasLook& look, const QRectF& visible,
                                       double scale);

}  // namespace fusescope
