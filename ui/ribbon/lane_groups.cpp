#include "ui/ribbon/lane_groups.h"

#include <algorithm>
#include <utility>

#include "analysis/set_groups.h"

namespace fusescope {

namespace {

/// Keeps the things for which every lane has a kernel.
void keepCommon(LaneSets& lanes) {
  std::uint32_t things = 0;
  for (const auto& lane : lanes)
    for (const auto& set : lane)
      for (const std::uint32_t thing : set) things = std::max(things, thing + 1);
  std::vector<std::size_t> lanesWith(things, 0);
  for (std::size_t l = 0; l < lanes.size(); ++l)
    for (const auto& set : lanes[l])
      for (const std::uint32_t thing : set)
        // A thing is counted once for each lane, and only if all previous lanes have it.
        if (lanesWith[thing] == l) ++lanesWith[thing];
  for (auto& lane : lanes)
    for (auto& set : lane) std::erase_if(set, [&](std::uint32_t thing) { return lanesWith[thing] != lanes.size(); });
}

/// The groups of the previous lanes as sets, with which one more lane can be grouped.
struct GroupsSoFar {
  std::vector<LaneGroup> groups;
  std::vector<std::vector<std::uint32_t>> sets;  ///< indexed by group

  void begin(const std::vector<std::vector<std::uint32_t>>& lane, std::size_t lanes) {
    for (std::uint32_t i = 0; i < lane.size(); ++i) {
      LaneGroup group{.kernels = std::vector<std::vector<std::uint32_t>>(lanes)};
      group.kernels[0] = {i};
      groups.push_back(std::move(group));
    }
    sets = lane;
  }

  void add(const std::vector<std::vector<std::uint32_t>>& lane, std::size_t place, std::size_t lanes) {
    GroupsSoFar next;
    for (const SetGroup& merged : groupSets(sets, lane)) {
      LaneGroup group{.kernels = std::vector<std::vector<std::uint32_t>>(lanes), .same = merged.same};
      std::vector<std::uint32_t> things;
      for (const std::uint32_t a : merged.a) {
        group.same = group.same && groups[a].same;
        for (std::size_t l = 0; l < place; ++l)
          group.kernels[l].insert(group.kernels[l].end(), groups[a].kernels[l].begin(), groups[a].kernels[l].end());
        things.insert(things.end(), sets[a].begin(), sets[a].end());
      }
      for (const std::uint32_t b : merged.b) {
        group.kernels[place].push_back(b);
        if (merged.a.empty()) things.insert(things.end(), lane[b].begin(), lane[b].end());
      }
      std::ranges::sort(things);
      things.erase(std::ranges::unique(things).begin(), things.end());
      for (auto& kernels : group.kernels) std::ranges::sort(kernels);
      next.groups.push_back(std::move(group));
      next.sets.push_back(std::move(things));
    }
    *this = std::move(next);
  }
};

/// Returns, for each kernel of lane `l`, the group that contains it.
std::vector<std::uint32_t> groupOfKernel(const std::vector<LaneGroup>& groups, std::size_t l, std::size_t kernels) {
  std::vector<std::uint32_t> of(kernels, 0);
  for (std::uint32_t g = 0; g < groups.size(); ++g)
    for (const std::uint32_t kernel : groups[g].kernels[l]) of[kernel] = g;
  return of;
}

void sortByOrder(std::vector<LaneGroup>& groups, const LaneSets& lanes) {
  // The place of a group: the kernel of the last lane with which it begins or that it follows, and its distance behind
  // that.
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  constexpr Place kNowhere{UINT32_MAX, 0};
  std::vector<Place> place(groups.size(), kNowhere);
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (!groups[g].kernels.back().empty()) place[g] = {groups[g].kernels.back().front() + 1, 0};
  for (std::size_t l = lanes.size() - 1; l-- > 0;) {
    Place before{0, 0};
    for (const std::uint32_t g : groupOfKernel(groups, l, lanes[l].size())) {
      if (place[g] == kNowhere) place[g] = {before.first, before.second + 1};
      before = place[g];
    }
  }
  std::vector<std::uint32_t> order(groups.size());
  for (std::uint32_t g = 0; g < order.size(); ++g) order[g] = g;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t g) { return place[g]; });
  std::vector<LaneGroup> sorted;
  sorted.reserve(groups.size());
  for (const std::uint32_t g : order) sorted.push_back(std::move(groups[g]));
  groups = std::move(sorted);
}

}  // namespace

std::vector<LaneGroup> groupLanes(LaneSets lanes) {
  if (lanes.empty()) return {};
  if (lanes.size() > 1) keepCommon(lanes);
  GroupsSoFar sofar;
  sofar.begin(lanes.front(), lanes.size());
  for (std::size_t l = 1; l < lanes.size(); ++l) sofar.add(lanes[l], l, lanes.size());
  if (lanes.size() > 1) sortByOrder(sofar.groups, lanes);
  return std::move(sofar.groups);
}

}  // namespace fusescope
