#pragma once

#include <QRgb>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "session/run.h"
#include "session/run_plans.h"
#include "ui/canvas/canvas_items.h"
#include "ui/canvas/color_mode.h"
#include "ui/document/plan_snapshot.h"
#include "ui/ribbon/ribbon_layout.h"
#include "ui/ribbon/ribbon_widths.h"

namespace fusescope {

/// What is to be a lane: the plan on screen, or the plan of a run, with the numbers of a run. Made in the GUI thread.
struct LaneWish {
  std::string run;                               ///< id of the run whose numbers it shows; empty: there is none
  QString title;                                 ///< of the run: "run 3, 2 pins"
  bool ofOtherPlan = false;                      ///< the run is of another plan than the one on screen
  std::shared_ptr<const PlanSnapshot> snapshot;  ///< what it shows; null: the plan of the run is to be made
  bool ownPlan = true;  ///< what it shows is the plan of the run, so that the run's times are its own
  // How that plan is had.
  std::optional<PlannedRun> planned;  ///< nothing: `snapshot` is there
  std::shared_ptr<RunPlans> plans;
  OpenNetwork network;
  // Its numbers.
  SharedOptional<RunTime> time;
  SharedOptional<RunErrors> errors;
  double errorBound = 0;              ///< of max|Δ| over rms: beyond it a node is wrong
  std::optional<ShownErrors> judged;  ///< its errors, where they are of the plan on screen and known already
};

/// One lane: a cover, and what is known of each of its fused nodes. Const once made.
struct RibbonLane {
  std::string run;
  QString title;
  bool ofOtherPlan = false;
  std::shared_ptr<const PlanSnapshot> snapshot;
  std::vector<CanvasItem> items;  ///< by fused node, as the canvas has them: what colours are told from
  std::vector<ShownTime> times;   ///< by fused node
  ShownErrors errors;
  std::vector<ErrorLevel> levels;   ///< by fused node, of its local error
  std::optional<double> latencyMs;  ///< of the whole, as the run measured it
  bool isQuiet = true;              ///< nothing else ran while it was measured
  double kernelMs = 0;              ///< of all kernels with a time together
  std::size_t untimed = 0;          ///< kernels without a time

  const FusedNode& fused(std::uint32_t kernel) const { return snapshot->cover->fusedNodes[kernel]; }
  std::size_t size() const { return items.size(); }
  bool isMeasured() const { return latencyMs.has_value(); }
};

/// Whether two wishes ask for the same lane: quick.
bool sameLane(const LaneWish& a, const LaneWish& b);
/// What is shown of the plan of a run that is not on screen. Any thread; may take as long as planning. Errors: those of
/// RunPlans::find().
Result<std::shared_ptr<const PlanSnapshot>> snapshotOfRun(const LaneWish& wish, const StopToken& stop);
/// `snapshot`: of the wish, or made for it. Any thread.
RibbonLane makeLane(const LaneWish& wish, std::shared_ptr<const PlanSnapshot> snapshot, const CanvasFonts& fonts);

std::vector<KernelCost> costsOf(const RibbonLane& lane);
LaneShape shapeOf(const RibbonLane& lane, KernelWidths widths);
/// By fused node, in the canvas's colours. Any thread.
std::vector<QRgb> laneColors(const RibbonLane& lane, const ColorMode& mode, const Theme& theme);

}  // namespace fusescope
