#pragma once

#include <vector>

#include "ui/canvas/canvas_look.h"

namespace fusescope {

/// A text beside an edge, in scene coordinates.
struct EdgeLabel {
  QRectF rect;
  QString text;
  bool cast = false;  ///< true: it describes a cast and its time; false: the type of the edge
};

/// Returns the point at `t` of 0 … 1 on the part of an edge's last curve that is not shared with other edges.
QPointF edgePoint(const CanvasCurves::Points& points, double t);

/// Places the labels of visible edges: of all casts, and of types if the producer is not visible or the edge is
/// highlighted. Labels do not overlap each other, marks of casts or boxes; a label without room is omitted.
std::vector<EdgeLabel> placeEdgeLabels(const CanvasScene& scene, const CanvasLook& look, const QRectF& visible,
                                       double scale);

}  // namespace fusescope
