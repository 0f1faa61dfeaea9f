#pragma once

#include <memory>

#include "planning/plan.h"
#include "ui/canvas/canvas_metrics.h"
#include "ui/canvas/canvas_scene.h"
#include "ui/canvas/container_kinds.h"

namespace fusescope {

/// Whether a fused node is an If, Loop or Scan whose bodies the plan holds.
bool holdsBodies(const Plan& plan, const FusedNode& fused);
/// What is open at first: nothing, but a network that is hardly more than its control flow shows what is in it.
OpenState openAtFirst(const Plan& plan);
/// All of a scene, and what is in what is closed there.
OpenState allOpen(const CanvasScene& scene);
/// The scene of a plan, not yet laid out. Pure; any thread. A node that is in no fused node has a box of its own.
/// Things in a body have the names that directives give them: HOLDER/NAME.
CanvasScene buildCanvas(const Plan& plan, const OpenState& open, const CanvasFonts& fonts);

}  // namespace fusescope
