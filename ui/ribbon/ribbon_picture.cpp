#include "ui/ribbon/ribbon_picture.h"

#include <algorithm>
#include <cmath>

#include "diff/plan_levels.h"
#include "ir/graph.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

bool sameNodes(const Cover& a, const Cover& b) {
  return a.model == b.model || a.model->graph == b.model->graph;
}

/// Returns the nodes of each kernel of `cover`, with numbers that are the same for counterparts in `reference`.
std::vector<std::vector<std::uint32_t>> thingsOf(const Cover& cover, const Cover& reference) {
  std::vector<PlanLevel> levels;
  if (!sameNodes(cover, reference)) levels = planLevels(reference, cover);
  std::vector<std::vector<std::uint32_t>> things;
  things.reserve(cover.fusedNodes.size());
  for (const FusedNode& fused : cover.fusedNodes) {
    auto& of = things.emplace_back();
    for (const NodeId node : fused.nodes)
      of.push_back(levels.empty() ? node.index : levels.front().nodeNumberOfB(node));
  }
  return things;
}

bool areBothKnownAndDiffer(DataType a, DataType b) {
  return a != b && a != DataType::Undefined && b != DataType::Undefined;
}

bool typesDiffer(const RibbonLane& laneA, std::uint32_t a, const RibbonLane& laneB, std::uint32_t b) {
  const FusedNode &ofA = laneA.fused(a), &ofB = laneB.fused(b);
  const Cover &coverA = *laneA.snapshot->cover, &coverB = *laneB.snapshot->cover;
  if (areBothKnownAndDiffer(ofA.compute, ofB.compute)) return true;
  if (!std::ranges::equal(ofA.outputs, ofB.outputs, [](const FusedOutput& x, const FusedOutput& y) {
        return !areBothKnownAndDiffer(x.type, y.type);
      }))
    return true;
  if (!sameNodes(coverA, coverB)) return false;
  return std::ranges::any_of(ofA.nodes, [&](NodeId node) {
    return node.index < coverA.calculates.size() && node.index < coverB.calculates.size() &&
           areBothKnownAndDiffer(coverA.calculates[node.index], coverB.calculates[node.index]);
  });
}

/// Returns the milliseconds of kernels that were all measured, or nothing if one was not.
std::optional<double> measuredMs(const RibbonLane& lane, const std::vector<std::uint32_t>& kernels) {
  double ms = 0;
  for (const std::uint32_t kernel : kernels) {
    if (lane.times[kernel].kind != TimeKind::Measured) return std::nullopt;
    ms += lane.times[kernel].ms;
  }
  return kernels.empty() ? std::nullopt : std::optional(ms);
}

GroupDifference differenceIn(const RibbonPicture& picture, const LaneGroup& group, std::size_t upper) {
  const RibbonLane &a = picture.lanes[upper], &b = picture.lanes[upper + 1];
  const auto &ofA = group.kernels[upper], &ofB = group.kernels[upper + 1];
  GroupDifference difference{.fusion = !group.same || ofA.size() != ofB.size()};
  if (!difference.fusion)
    for (std::size_t i = 0; i < ofA.size(); ++i)
      difference.types = difference.types || typesDiffer(a, ofA[i], b, ofB[i]);
  const auto msA = measuredMs(a, ofA), msB = measuredMs(b, ofB);
  if (msA && msB) difference.deltaMs = *msB - *msA;
  return difference;
}

void addDifferences(RibbonPicture& picture) {
  for (std::size_t upper = 0; upper + 1 < picture.lanes.size(); ++upper) {
    auto& differences = picture.differences.emplace_back();
    for (const LaneGroup& group : picture.layout.groups) {
      differences.push_back(differenceIn(picture, group, upper));
      picture.mostDelta = std::max(picture.mostDelta, std::abs(differences.back().deltaMs.value_or(0)));
    }
  }
}

void addSums(RibbonPicture& picture) {
  for (std::size_t l = 0; l < picture.lanes.size(); ++l) {
    auto& ms = picture.msBefore.emplace_back(1, 0.0);
    auto& untimed = picture.untimedBefore.emplace_back(1, 0U);
    for (const RibbonBar& bar : picture.layout.lanes[l].bars()) {
      const ShownTime& time = picture.lanes[l].times[static_cast<std::size_t>(bar.what)];
      ms.push_back(ms.back() + (time.known() ? time.ms : 0));
      untimed.push_back(untimed.back() + (time.known() ? 0 : 1));
    }
  }
}

}  // namespace

bool RibbonPicture::anyErrors() const {
  return std::ranges::any_of(lanes, [](const RibbonLane& lane) { return !lane.errors.of.empty(); });
}

std::pair<std::uint32_t, std::uint32_t> RibbonPicture::barsOfGroups(std::size_t lane, std::uint32_t first,
                                                                    std::uint32_t last) const {
  const auto& bars = layout.lanes[lane].bars();
  const auto at = [&](std::uint32_t group) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(bars, group, {}, &RibbonBar::first) - bars.begin());
  };
  return {at(first), at(last)};
}

RibbonPicture makePicture(std::vector<RibbonLane> lanes, RibbonWidth wanted) {
  RibbonPicture picture{.lanes = std::move(lanes), .layout = {}, .wanted = wanted};
  if (picture.lanes.empty()) return picture;
  std::vector<std::vector<KernelCost>> costs;
  LaneSets sets;
  for (const RibbonLane& lane : picture.lanes) {
    costs.push_back(costsOf(lane));
    sets.push_back(thingsOf(*lane.snapshot->cover, *picture.shown().snapshot->cover));
  }
  picture.basis = basisOf(costs, wanted);
  std::vector<LaneShape> shapes;
  for (std::size_t l = 0; l < costs.size(); ++l) {
    KernelWidths widths = kernelWidths(costs[l], picture.basis);
    picture.unseen.push_back(widths.atMinimumWidth);
    shapes.push_back(shapeOf(picture.lanes[l], std::move(widths)));
  }
  picture.layout = layOutRibbon(groupLanes(std::move(sets)), shapes);
  addDifferences(picture);
  addSums(picture);
  return picture;
}

MadePicture makePicture(const std::vector<LaneRequest>& requests, RibbonWidth wanted, const CanvasFonts& fonts,
                        const StopToken& stop) {
  MadePicture made;
  std::vector<RibbonLane> lanes;
  for (const LaneRequest& request : requests) {
    auto snapshot = request.snapshot;
    if (snapshot == nullptr) {
      auto planned = snapshotOfRun(request, stop);
      if (!planned.ok()) {
        made.problem =
            QStringLiteral("The plan of %1 cannot be made again: %2").arg(request.title, problemText(planned.error()));
        continue;
      }
      snapshot = made.plans[request.run] = planned.value();
    }
    lanes.push_back(makeLane(request, std::move(snapshot), fonts));
  }
  made.picture = std::make_shared<const RibbonPicture>(makePicture(std::move(lanes), wanted));
  return made;
}

}  // namespace fusescope
