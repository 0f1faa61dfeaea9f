#pragma once

#include <QRgb>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "session/runs/run.h"
#include "session/runs/run_plans.h"
#include "ui/canvas/canvas_items.h"
#include "ui/canvas/color_mode.h"
#include "ui/document/plan_snapshot.h"
#include "ui/ribbon/ribbon_layout.h"
#include "ui/ribbon/ribbon_widths.h"

namespace fusescope {

/// A request for a lane: the displayed plan or the plan of a run, with the numbers of a run. It is made on the GUI
/// thread.
struct LaneRequest {
  std::string run;                               ///< id of the run whose numbers it shows; empty: none
  QString title;                                 ///< title of the run: "run 3, 2 pins"
  bool ofOtherPlan = false;                      ///< the run is of another plan than the displayed one
  std::shared_ptr<const PlanSnapshot> snapshot;  ///< what it shows; null: the plan of the run must be made
  bool ownPlan = true;                           ///< it shows the plan of the run, so that the run's times belong to it
  // How that plan is made.
  std::optional<PlannedRun> planned;  ///< nothing: `snapshot` is set
  std::shared_ptr<RunPlans> plans;
  OpenNetwork network;
  // Its numbers.
  SharedOptional<RunTime> time;
  SharedOptional<RunErrors> errors;
  double errorBound = 0;              ///< the bound of max|Δ| over rms above which a node is wrong
  std::optional<ShownErrors> judged;  ///< its errors, if they are of the displayed plan and known already
};

/// One lane: a cover, and the facts about each of its fused nodes. Const after it is made.
struct RibbonLane {
  std::string run;
  QString title;
  bool ofOtherPlan = false;
  std::shared_ptr<const PlanSnapshot> snapshot;
  std::vector<CanvasItem> items;  ///< for each fused node, the item of the canvas, which determines colours
  std::vector<ShownTime> times;   ///< for each fused node
  ShownErrors errors;
  std::vector<ErrorLevel> levels;   ///< for each fused node, the level of its local error
  std::optional<double> latencyMs;  ///< of the whole network, as the run measured it
  bool isQuiet = true;              ///< nothing else used the machine meanwhile
  double kernelMs = 0;              ///< sum over all kernels with a time
  std::size_t untimed = 0;          ///< number of kernels without a time

  const FusedNode& fused(std::uint32_t kernel) const { return snapshot->cover->fusedNodes[kernel]; }
  std::size_t size() const { return items.size(); }
  bool isMeasured() const { return latencyMs.has_value(); }
};

/// Returns whether two requests are for the same lane; it is fast.
bool sameLane(const LaneRequest& a, const LaneRequest& b);
/// Makes the snapshot for the plan of a run that is not displayed. May run on any thread, and may take as long as
/// planning. Errors: those of RunPlans::find().
Result<std::shared_ptr<const PlanSnapshot>> snapshotOfRun(const LaneRequest& request, const StopToken& stop);
/// `snapshot` is that of the request, or was made for it. May run on any thread.
RibbonLane makeLane(const LaneRequest& request, std::shared_ptr<const PlanSnapshot> snapshot, const CanvasFonts& fonts);

std::vector<KernelCost> costsOf(const RibbonLane& lane);
LaneShape shapeOf(const RibbonLane& lane, KernelWidths widths);
/// Returns the colour of each fused node, as on the canvas. May run on any thread.
std::vector<QRgb> laneColors(const RibbonLane& lane, const ColorMode& mode, const Theme& theme);

}  // namespace fusescope
