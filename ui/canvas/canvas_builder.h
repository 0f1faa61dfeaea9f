#pragma once

#include <QSet>
#include <memory>

#include "planning/plan.h"
#include "ui/canvas/canvas_metrics.h"
#include "ui/canvas/canvas_scene.h"

namespace fusescope {

/// What of a plan is open. Handles and names, so that it outlives the plan.
struct OpenState {
  QSet<QString> fused;           ///< handles of fused nodes that show their nodes, or their bodies
  QSet<QString> closedSegments;  ///< segments are open unless named here
  bool operator==(const OpenState& other) const = default;
};

/// Whether a fused node is an If, Loop or Scan whose bodies the plan holds.
bool holdsBodies(const Plan& plan, const FusedNode& fused);
/// What is open at first: nothing, but a network that is hardly more than its control flow shows what is in it.
OpenState openAtFirst(const Plan& plan);
/// The scene of a plan, not yet laid out. Pure; any thread. A node that is in no fused node has a box of its own.
/// Things in a body have the names that directives give them: HOLDER/NAME.
CanvasScene buildCanvas(const Plan& plan, const OpenState& open, const CanvasFonts& fonts);

}  // namespace fusescope
