#pragma once

#include <QPointF>
#include <QStringList>

#include "ui/canvas/container_kinds.h"

namespace fusescope {

/// What is open on a canvas and what its camera shows.
struct CanvasView {
  OpenState open;
  bool atRest = false;  ///< what is open is unknown, and is chosen as for a network that is opened
  QPointF centre;       ///< in layout pixels
  double zoom = 0;      ///< 0: the initial zoom of a network that is opened
  QStringList only{};   ///< keys for GraphView::showOnly(), in the colour mode that is set when the cover is set
};

}  // namespace fusescope
