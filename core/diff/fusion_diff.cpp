#include <algorithm>
#include <cstdint>
#include <utility>

#include "diff/diff_parts.h"

namespace fusescope {

namespace {

std::vector<std::uint32_t> thingsOf(const PlanLevel& level, const SetGroup& group) {
  std::vector<std::uint32_t> things;
  for (const std::uint32_t fused : group.a)
    for (const NodeId node : level.a->fusedNodes[fused].nodes) things.push_back(level.thingOfA(node));
  for (const std::uint32_t fused : group.b)
    for (const NodeId node : level.b->fusedNodes[fused].nodes)
      if (!level.match.nodeOfA[node.index].valid()) things.push_back(level.thingOfB(node));
  return things;
}

bool single(const Plan* plan, const std::vector<std::uint32_t>& fused) {
  return std::ranges::all_of(fused, [&](std::uint32_t i) { return plan->fusedNodes[i].nodes.size() < 2; });
}

ChangePlace placeOf(const PlanLevel& level, const SetGroup& group) {
  if (!group.a.empty()) return placeInA(level, level.a->fusedNodes[group.a.front()].root);
  return placeInB(level, level.b->fusedNodes[group.b.front()].root);
}

}  // namespace

GroupChange changeOf(const SetGroup& group, bool singlesOfA, bool singlesOfB) {
  if (group.a.empty()) return GroupChange::Formed;
  if (group.b.empty()) return GroupChange::Broken;
  if (group.a.size() == 1 && group.b.size() > 1) return singlesOfB ? GroupChange::Broken : GroupChange::Split;
  if (group.b.size() == 1 && group.a.size() > 1) return singlesOfA ? GroupChange::Formed : GroupChange::Merged;
  return GroupChange::Moved;
}

void addFusionChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff) {
  if (level.a == nullptr || level.b == nullptr) return;
  for (const SetGroup& group : fusedGroups(level)) {
    const bool singlesOfA = single(level.a, group.a), singlesOfB = single(level.b, group.b);
    if (group.same || (singlesOfA && singlesOfB)) continue;
    FusionChange change{.change = changeOf(group, singlesOfA, singlesOfB), .place = placeOf(level, group)};
    for (const std::uint32_t fused : group.a) change.a.push_back(coveringNode(level, true, fused));
    for (const std::uint32_t fused : group.b) change.b.push_back(coveringNode(level, false, fused));
    const std::vector<std::uint32_t> things = thingsOf(level, group);
    for (const std::uint32_t thing : things) change.nodes.push_back(level.nameOf(thing));
    if (causes != nullptr) change.because = causes->ofNodes(place, Aspect::Kernel, things);
    diff.fusions.push_back(std::move(change));
  }
}

}  // namespace fusescope
