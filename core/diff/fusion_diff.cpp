#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "diff/diff_parts.h"
#include "diff/reported_facts.h"

namespace fusescope {

namespace {

/// Returns what a group contains, each thing once: A's things, then those that only B has.
std::vector<std::uint32_t> thingsOf(const PlanLevel& level, const SetGroup& group) {
  std::vector<std::uint32_t> things;
  std::unordered_set<std::uint32_t> listed;
  const auto add = [&](bool ofA, const FusedNode& fused) {
    for (const std::uint32_t thing : comparedThings(level, ofA, fused))
      if (level.inA(thing) == ofA && listed.insert(thing).second) things.push_back(thing);
  };
  for (const std::uint32_t fused : group.a) add(true, level.a->fusedNodes[fused]);
  for (const std::uint32_t fused : group.b) add(false, level.b->fusedNodes[fused]);
  return things;
}

bool single(const Cover* plan, const std::vector<std::uint32_t>& fused) {
  return std::ranges::all_of(fused, [&](std::uint32_t i) { return plan->fusedNodes[i].nodes.size() < 2; });
}

ChangePlace placeOf(const PlanLevel& level, const SetGroup& group) {
  if (!group.a.empty()) return placeInA(level, level.a->fusedNodes[group.a.front()].nodes.front());
  return placeInB(level, level.b->fusedNodes[group.b.front()].nodes.front());
}

}  // namespace

GroupChange changeOf(const SetGroup& group, bool singlesOfA, bool singlesOfB) {
  if (group.a.empty()) return GroupChange::Formed;
  if (group.b.empty()) return GroupChange::Broken;
  if (group.b.size() > 1 && singlesOfB && !singlesOfA) return GroupChange::Broken;
  if (group.a.size() > 1 && singlesOfA && !singlesOfB) return GroupChange::Formed;
  if (group.a.size() == 1 && group.b.size() > 1) return GroupChange::Split;
  if (group.b.size() == 1 && group.a.size() > 1) return GroupChange::Merged;
  return GroupChange::Moved;
}

void addFusionChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff) {
  if (level.a == nullptr || level.b == nullptr) return;
  for (const SetGroup& group : fusedGroups(level)) {
    const bool singlesOfA = single(level.a, group.a), singlesOfB = single(level.b, group.b);
    const bool oneEach = group.a.size() < 2 && group.b.size() < 2;
    if (group.same || (singlesOfA && singlesOfB && oneEach)) continue;
    const std::vector<std::uint32_t> things = thingsOf(level, group);
    if (things.empty()) continue;  // the kernels run nothing that the other side runs
    FusionChange change{.change = changeOf(group, singlesOfA, singlesOfB), .place = placeOf(level, group)};
    for (const std::uint32_t fused : group.a) change.a.push_back(coveringNode(level, true, fused));
    for (const std::uint32_t fused : group.b) change.b.push_back(coveringNode(level, false, fused));
    for (const std::uint32_t thing : things) change.nodes.push_back(level.nameOf(thing));
    if (causes != nullptr) change.because = causes->ofNodes(place, Aspect::Kernel, things);
    change.reported = reportedFacts(level, group);
    diff.fusions.push_back(std::move(change));
  }
}

}  // namespace fusescope
