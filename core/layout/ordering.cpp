#include <algorithm>
#include <numeric>

#include "layout/layered.h"

namespace fusescope {
namespace {

constexpr int kSweeps = 8;
constexpr int kSweepsOfLarge = 4;
constexpr std::size_t kLarge = 20'000;

// Depth first from the top, neighbours in order: what hangs together stands together.
void orderDepthFirst(LayeredState& state) {
  const std::size_t nodes = state.rank.size();
  const int rankCount = nodes == 0 ? 0 : 1 + *std::max_element(state.rank.begin(), state.rank.end());
  state.ranks.assign(rankCount, {});
  state.position.assign(nodes, 0);
  std::vector<bool> seen(nodes, false);
  std::vector<int> stack;
  const auto visit = [&](int root) {
    stack.push_back(root);
    while (!stack.empty()) {
      const int v = stack.back();
      stack.pop_back();
      if (seen[v]) continue;
      seen[v] = true;
      state.position[v] = static_cast<int>(state.ranks[state.rank[v]].size());
      state.ranks[state.rank[v]].push_back(v);
      for (auto it = state.below[v].rbegin(); it != state.below[v].rend(); ++it) {
        const int w = state.links[*it].lower;
        if (!seen[w]) stack.push_back(w);
      }
    }
  };
  for (const int v : state.topological) {
    if (state.above[v].empty()) visit(v);
  }
  for (const int v : state.topological) visit(v);
}

double mean(const LayeredState& state, const std::vector<int>& links, bool upwards) {
  double sum = 0;
  for (const int l : links) {
    const Link& link = state.links[l];
    const int other = upwards ? link.upper : link.lower;
    const double offset = upwards ? link.upperX : link.lowerX;
    const double width = std::max(state.width(other), 1.0);
    sum += state.position[other] + 0.8 * offset / width;  // ports of one container keep their order
  }
  return sum / static_cast<double>(links.size());
}

void sortRank(LayeredState& state, int r, bool upwards) {
  std::vector<int>& nodes = state.ranks[r];
  std::vector<std::pair<double, int>> keyed;
  keyed.reserve(nodes.size());
  for (const int v : nodes) {
    const std::vector<int>& links = upwards ? state.above[v] : state.below[v];
    keyed.emplace_back(links.empty() ? state.position[v] : mean(state, links, upwards), v);
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i] = keyed[i].second;
    state.position[nodes[i]] = static_cast<int>(i);
  }
}

// Inversions of the lower ends, links sorted by their upper ends: a Fenwick tree over the lower rank.
long crossingsBelow(const LayeredState& state, int r) {
  const std::size_t width = state.ranks[r + 1].size();
  std::vector<long> tree(width + 1, 0);
  long crossings = 0, inserted = 0;
  std::vector<int> ends;
  for (const int v : state.ranks[r]) {
    ends.clear();
    for (const int l : state.below[v]) ends.push_back(state.position[state.links[l].lower]);
    std::sort(ends.begin(), ends.end());
    for (const int end : ends) {
      long upTo = 0;
      for (int i = end + 1; i > 0; i -= i & -i) upTo += tree[i];
      crossings += inserted - upTo;
    }
    for (const int end : ends) {
      for (int i = end + 1; i <= static_cast<int>(width); i += i & -i) ++tree[i];
      ++inserted;
    }
  }
  return crossings;
}

long crossings(const LayeredState& state) {
  long sum = 0;
  for (int r = 0; r + 1 < static_cast<int>(state.ranks.size()); ++r) sum += crossingsBelow(state, r);
  return sum;
}

}  // namespace

Status orderRanks(LayeredState& state, const StopToken& stop) {
  orderDepthFirst(state);
  const int rankCount = static_cast<int>(state.ranks.size());
  auto best = state.ranks;
  long fewest = crossings(state);
  const int sweeps = state.rank.size() > kLarge ? kSweepsOfLarge : kSweeps;
  for (int sweep = 0; sweep < sweeps && fewest > 0; ++sweep) {
    TRY(checkStop(stop));
    if (sweep % 2 == 0) {
      for (int r = 1; r < rankCount; ++r) sortRank(state, r, true);
    } else {
      for (int r = rankCount - 2; r >= 0; --r) sortRank(state, r, false);
    }
    const long now = crossings(state);
    if (now < fewest) {
      fewest = now;
      best = state.ranks;
    }
  }
  state.ranks = std::move(best);
  for (const std::vector<int>& nodes : state.ranks) {
    for (std::size_t i = 0; i < nodes.size(); ++i) state.position[nodes[i]] = static_cast<int>(i);
  }
  return Done{};
}

}  // namespace fusescope
