#include "analysis/many_groups.h"

#include <algorithm>
#include <utility>

#include "analysis/disjoint_sets.h"

namespace fusescope {

namespace {

/// Returns the sets of one side of a group in sorted form, so that they are equal if they have the same elements.
SideSets sortedSets(const SideSets& side, const std::vector<std::uint32_t>& places) {
  SideSets all;
  for (const std::uint32_t place : places) {
    all.push_back(side[place]);
    std::ranges::sort(all.back());
  }
  std::ranges::sort(all);
  return all;
}

bool isSameOnAllSides(const ManyGroup& group, std::span<const SideSets> sides) {
  const SideSets first = sortedSets(sides[0], group.sets[0]);
  for (std::size_t side = 0; side < sides.size(); ++side)
    if (group.sets[side].empty() || sortedSets(sides[side], group.sets[side]) != first) return false;
  return true;
}

}  // namespace

std::vector<ManyGroup> groupManySets(std::span<const SideSets> sides) {
  constexpr std::uint32_t kNobody = UINT32_MAX;
  std::uint32_t things = 0;
  std::vector<std::pair<std::size_t, std::uint32_t>> all;  // side and index of every set
  for (std::size_t side = 0; side < sides.size(); ++side) {
    for (std::uint32_t place = 0; place < sides[side].size(); ++place) {
      all.emplace_back(side, place);
      for (const std::uint32_t thing : sides[side][place]) things = std::max(things, thing + 1);
    }
  }
  const auto count = static_cast<std::uint32_t>(all.size());
  DisjointSets united(count);
  std::vector<std::uint32_t> coveredBy(things, kNobody);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t thing : sides[all[i].first][all[i].second]) {
      if (coveredBy[thing] == kNobody) coveredBy[thing] = i;
      united.unite(coveredBy[thing], i);
    }
  }
  std::vector<ManyGroup> groups;
  std::vector<std::uint32_t> groupOf(count, kNobody);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t& group = groupOf[united.find(i)];
    if (group == kNobody) {
      group = static_cast<std::uint32_t>(groups.size());
      groups.push_back({.sets = std::vector<std::vector<std::uint32_t>>(sides.size())});
    }
    groups[group].sets[all[i].first].push_back(all[i].second);
  }
  for (ManyGroup& group : groups) group.same = isSameOnAllSides(group, sides);
  return groups;
}

}  // namespace fusescope
