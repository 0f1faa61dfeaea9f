#include "ui/ribbon/ribbon_lane.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "planning/fused_node_facts.h"
#include "ui/document/layer_times.h"
#include "ui/document/qt_text.h"
#include "ui/document/shown_layer_errors.h"

namespace fusescope {

namespace {

/// The ribbon shows fewer facts about an item than the canvas.
CanvasItem ribbonItem(const CanvasItems& items, const FusedNode& fused) {
  CanvasItem item = items.fused(fused, qs(fused.name), qs(handleOf(fused)), fused.nodes.size());
  item.segment = fused.segment.valid() ? static_cast<int>(fused.segment.index) : -1;
  item.detail.clear();
  item.meta.clear();
  item.stubs.clear();
  return item;
}

/// Returns the blocks that contain the node, from the outermost to the innermost.
std::vector<std::int32_t> blockPath(const ModuleTree& tree, NodeId node) {
  std::vector<std::int32_t> path;
  if (!node.valid() || node.index >= tree.moduleOf.size()) return path;
  for (std::int32_t at = tree.moduleOf[node.index]; at >= 0; at = tree.modules[static_cast<std::size_t>(at)].parent)
    path.push_back(at);
  std::ranges::reverse(path);
  return path;
}

/// Returns whether both requests are for the plan of a run, and for the same plan.
bool samePlan(const LaneRequest& a, const LaneRequest& b) {
  return a.planned && b.planned && a.planned->sameAs(*b.planned) && a.network.model == b.network.model;
}

}  // namespace

bool sameLane(const LaneRequest& a, const LaneRequest& b) {
  const bool sameErrors = a.judged.has_value() == b.judged.has_value() &&
                          (!a.judged || a.judged->isSameObject(*b.judged)) && a.errors.isSameObject(b.errors) &&
                          a.errorBound == b.errorBound;
  return a.run == b.run && a.title == b.title && a.ofOtherPlan == b.ofOtherPlan && a.ownPlan == b.ownPlan &&
         a.snapshot == b.snapshot && (a.snapshot != nullptr || samePlan(a, b)) && a.time.isSameObject(b.time) &&
         sameErrors;
}

Result<std::shared_ptr<const PlanSnapshot>> snapshotOfRun(const LaneRequest& request, const StopToken& stop) {
  const auto artifact = TRY(request.plans->find(*request.planned, request.network, stop));
  return makeSnapshot(artifact->plan, nullptr, artifact->made);
}

RibbonLane makeLane(const LaneRequest& request, std::shared_ptr<const PlanSnapshot> snapshot,
                    const CanvasFonts& fonts) {
  RibbonLane lane{.run = request.run, .title = request.title, .ofOtherPlan = request.ofOtherPlan};
  lane.snapshot = std::move(snapshot);
  const Cover& cover = *lane.snapshot->cover;
  ShownTimes times;
  if (request.time) {
    const RunTime& time = *std::as_const(request.time);
    times = layerTimesOf(time, *lane.snapshot, request.ownPlan ? TimeKind::Measured : TimeKind::OfOtherPlan);
    lane.latencyMs = time.medianMs;
    lane.isQuiet = time.quiet;
  }
  if (request.judged) {
    lane.errors = *request.judged;
  } else if (request.errors) {
    lane.errors.of = layerErrorsOf(*std::as_const(request.errors), *lane.snapshot, nullptr);
    lane.errors.bound = request.errorBound;
  }
  const CanvasItems items(cover, {}, fonts);
  lane.items.reserve(cover.fusedNodes.size());
  lane.times.reserve(cover.fusedNodes.size());
  for (const FusedNode& fused : cover.fusedNodes) {
    lane.items.push_back(ribbonItem(items, fused));
    lane.times.push_back(shownTime(times, handleOf(fused), timeWithoutRun(cover, fused)));
    const ShownError error =
        lane.errors.of.empty() ? ShownError() : lane.errors.find(lane.items.back().timeKey.toStdString());
    lane.levels.push_back(levelOf(error, &LocalAndCarried::local, lane.errors.bound));
    if (lane.times.back().known()) {
      lane.kernelMs += lane.times.back().ms;
    } else {
      ++lane.untimed;
    }
  }
  return lane;
}

std::vector<KernelCost> costsOf(const RibbonLane& lane) {
  std::vector<KernelCost> costs;
  costs.reserve(lane.size());
  for (std::uint32_t i = 0; i < lane.size(); ++i) {
    const ShownTime& time = lane.times[i];
    costs.push_back({time.known() ? std::optional(time.ms) : std::nullopt, lane.fused(i).flops, lane.fused(i).bytes});
  }
  return costs;
}

LaneShape shapeOf(const RibbonLane& lane, KernelWidths widths) {
  LaneShape shape{.widths = std::move(widths.of)};
  shape.segments.reserve(lane.size());
  shape.blocks.reserve(lane.size());
  for (std::uint32_t i = 0; i < lane.size(); ++i) {
    shape.segments.push_back(lane.items[i].segment);
    shape.blocks.push_back(blockPath(*lane.snapshot->modules, PlanSnapshot::mainNodeOf(lane.fused(i))));
  }
  return shape;
}

std::vector<QRgb> laneColors(const RibbonLane& lane, const ColorMode& mode, const Theme& theme) {
  double slowest = 0;
  for (const ShownTime& time : lane.times) slowest = std::max(slowest, time.ms);
  std::vector<QRgb> colors;
  colors.reserve(lane.size());
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const ShownError error =
        lane.errors.of.empty() ? ShownError() : lane.errors.find(lane.items[i].timeKey.toStdString());
    const ColorSource source{lane.items[i], lane.times[i], slowest, error, lane.errors.bound, theme};
    colors.push_back(mode.colorOf(source).fill.rgb());
  }
  return colors;
}

}  // namespace fusescope
