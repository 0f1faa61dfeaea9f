#pragma once

#include <QSet>
#include <memory>

#include "planning/plan.h"
#include "ui/canvas/canvas_metrics.h"
#include "ui/canvas/canvas_scene.h"

namespace fusescope {

/// What of a plan is open. Handles and names, so that it outlives the plan.
struct OpenState {
  QSet<QString> fused;           ///< handles of fused nodes that show their nodes
  QSet<QString> closedSegments;  ///< segments are open unless named here
  bool operator==(const OpenState& other) const = default;
};

/// The scene of a plan, not yet laid out. Pure; any thread. A node that is in no fused node has a box of its own.
CanvasScene buildCanvas(const Plan& plan, const OpenState& open, const CanvasFonts& fonts);

}  // namespace fusescope
