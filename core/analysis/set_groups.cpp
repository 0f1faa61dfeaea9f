#include "analysis/set_groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/disjoint_sets.h"

namespace fusescope {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

/// Returns whether the sets of a group are equal on both sides; those of `b` are then put into the order of their
/// equals in `a`.
bool pairedAlike(SetGroup& group, std::span<const std::vector<std::uint32_t>> a,
                 std::span<const std::vector<std::uint32_t>> b) {
  using Sorted = std::pair<std::vector<std::uint32_t>, std::uint32_t>;  // the elements, and the index of the set
  const auto sorted = [](std::span<const std::vector<std::uint32_t>> sets, const std::vector<std::uint32_t>& places) {
    std::vector<Sorted> all;
    for (const std::uint32_t i : places) all.emplace_back(sets[i], i);
    for (Sorted& set : all) std::ranges::sort(set.first);
    std::ranges::sort(all);
    return all;
  };
  const std::vector<Sorted> ofA = sorted(a, group.a), ofB = sorted(b, group.b);
  if (!std::ranges::equal(ofA, ofB, {}, &Sorted::first, &Sorted::first)) return false;
  std::map<std::uint32_t, std::uint32_t> partners;
  for (std::size_t i = 0; i < ofA.size(); ++i) partners[ofA[i].second] = ofB[i].second;
  for (std::size_t i = 0; i < group.a.size(); ++i) group.b[i] = partners[group.a[i]];
  return true;
}

}  // namespace

std::vector<SetGroup> groupSets(std::span<const std::vector<std::uint32_t>> a,
                                std::span<const std::vector<std::uint32_t>> b) {
  std::uint32_t things = 0;
  for (const auto& side : {a, b})
    for (const auto& set : side)
      for (const std::uint32_t thing : set) things = std::max(things, thing + 1);
  std::vector<std::uint32_t> coveredBy(things, kNone);
  const auto countOfA = static_cast<std::uint32_t>(a.size());
  const auto count = countOfA + static_cast<std::uint32_t>(b.size());
  const auto setAt = [&](std::uint32_t i) -> const std::vector<std::uint32_t>& {
    return i < countOfA ? a[i] : b[i - countOfA];
  };
  DisjointSets sets(count);
  std::vector<std::uint32_t> shared(count, 0);  // elements of a set of b that are in the first set of a that it meets
  std::vector<std::uint32_t> partner(count, kNone);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t thing : setAt(i)) {
      std::uint32_t& first = coveredBy[thing];
      if (first == kNone) {
        first = i;
        continue;
      }
      sets.unite(first, i);
      if (partner[i] == kNone) partner[i] = first;
      if (partner[i] == first) ++shared[i];
    }
  }
  std::vector<SetGroup> groups;
  std::vector<std::uint32_t> groupOf(count, kNone);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t& group = groupOf[sets.find(i)];
    if (group == kNone) {
      group = static_cast<std::uint32_t>(groups.size());
      groups.emplace_back();
    }
    (i < countOfA ? groups[group].a : groups[group].b).push_back(i < countOfA ? i : i - countOfA);
  }
  for (SetGroup& group : groups) {
    if (group.a.size() != group.b.size()) continue;
    if (group.a.size() > 1) {
      group.same = pairedAlike(group, a, b);
      continue;
    }
    const std::size_t size = b[group.b.front()].size();
    group.same = size == a[group.a.front()].size() && size == shared[countOfA + group.b.front()];
  }
  return groups;
}

}  // namespace fusescope
