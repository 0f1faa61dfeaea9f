#include <algorithm>
#include <map>

#include "diff/diff_parts.h"

namespace fusescope {

namespace {

/// Returns, for each segment, its nodes that both networks have.
std::vector<std::vector<std::uint32_t>> sharedThings(const PlanLevel& level, bool ofA) {
  std::vector<std::vector<std::uint32_t>> sets;
  for (const Segment& segment : (ofA ? level.a : level.b)->segments) {
    std::vector<std::uint32_t>& set = sets.emplace_back();
    for (const NodeId node : segment.nodes) {
      const std::uint32_t thing = ofA ? level.nodeNumberOfA(node) : level.nodeNumberOfB(node);
      if (level.inBoth(thing)) set.push_back(thing);
    }
  }
  return sets;
}

ChangePlace placed(const BodyPath& body, const Segment& segment) {
  return {(body.isNetwork() ? "" : body.text() + ": ") + segment.name + " (" + runBy(segment) + ")"};
}

/// Returns the segment that runs a node on one side. If no kernel runs it, or the compiler does not disclose it,
/// returns the planned segment.
const Segment& segmentOf(const Cover& cover, NodeId node) {
  const FusedNode* fused = cover.fusedNodeOf(node);
  const bool hasSegment = fused != nullptr && fused->segment.valid();
  return cover.segments[(hasSegment ? fused : requestedPlan(cover).fusedNodeOf(node))->segment.index];
}

/// Returns the nodes of a group that something else runs on the other side, grouped by what runs them on each side.
std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>> rerouted(
    const PlanLevel& level, const std::vector<std::vector<std::uint32_t>>& sets, const SetGroup& group) {
  // If another compiler runs all accelerated nodes, this is said only once, by the difference of the options.
  const bool ofTwoCompilers = level.a->options.compiler != level.b->options.compiler;
  std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>> nodes;
  for (const std::uint32_t i : group.a) {
    for (const std::uint32_t thing : sets[i]) {
      if (!level.hasKernels(thing)) continue;  // one side does not run it
      const Segment& before = level.a->segments[i];
      const Segment& after = segmentOf(*level.b, level.match.nodeOfB[thing]);
      const bool sameKind = ofTwoCompilers && before.kind == after.kind;
      if (!sameKind && runBy(before) != runBy(after)) nodes[{runBy(before), runBy(after)}].push_back(thing);
    }
  }
  return nodes;
}

/// Adds a body that one side runs by a plan and the other operator by operator.
void addBodyOfOneSide(const PlanLevel& level, CauseFinder* causes, PlanDiff& diff) {
  if (!level.isDisclosed) return;
  const std::string body = level.path().text();
  SegmentChange change{.change = level.a != nullptr ? GroupChange::Broken : GroupChange::Formed};
  (level.a != nullptr ? change.a : change.b).push_back("the plan of " + body);
  change.place.segment = body;
  if (causes != nullptr && level.holderOfA.valid()) {
    const std::uint32_t holder = level.holderOfA.index;
    change.because = causes->ofNodes(static_cast<std::size_t>(level.around), Aspect::Segment, {&holder, 1});
  }
  diff.segments.push_back(std::move(change));
}

}  // namespace

std::string runBy(const Segment& segment) {
  return std::string(name(segment.kind)) + ", " + segment.backend;
}

ChangePlace placeInA(const PlanLevel& level, NodeId node) {
  return placed(level.pathOfA, segmentOf(*level.a, node));
}

ChangePlace placeInB(const PlanLevel& level, NodeId node) {
  return placed(level.pathOfB, segmentOf(*level.b, node));
}

void addSegmentChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff) {
  if (level.a == nullptr || level.b == nullptr) return addBodyOfOneSide(level, causes, diff);
  const auto a = sharedThings(level, true), b = sharedThings(level, false);
  for (const SetGroup& group : groupSets(a, b)) {
    const bool oneSided = group.a.empty() || group.b.empty();
    if (oneSided) continue;  // the nodes exist in one network only
    const auto moved = rerouted(level, a, group);
    if (group.same && moved.empty()) continue;
    SegmentChange change{.change = changeOf(group, false, false)};
    std::vector<std::uint32_t> things;
    for (const std::uint32_t i : group.a) {
      change.a.push_back(placed(level.pathOfA, level.a->segments[i]).segment);
      things.insert(things.end(), a[i].begin(), a[i].end());
    }
    for (const std::uint32_t i : group.b) change.b.push_back(placed(level.pathOfB, level.b->segments[i]).segment);
    change.place.segment = change.a.front();
    if (causes != nullptr) change.because = causes->ofNodes(place, Aspect::Segment, things);
    if (!group.same) diff.segments.push_back(std::move(change));
    for (const auto& [by, nodes] : moved) {
      SegmentChange run{.change = GroupChange::Rerouted, .runByA = by.first, .runByB = by.second};
      run.place = placeInA(level, NodeId(nodes.front()));
      for (const std::uint32_t thing : nodes) run.nodes.push_back(level.nameOf(thing));
      if (causes != nullptr) run.because = causes->ofNodes(place, Aspect::Segment, nodes);
      diff.segments.push_back(std::move(run));
    }
  }
}

}  // namespace fusescope
