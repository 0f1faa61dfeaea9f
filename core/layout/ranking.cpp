#include <algorithm>
#include <climits>
#include <deque>

#include "layout/layered.h"

namespace fusescope {
namespace {

struct Adjacency {
  std::vector<std::vector<int>> out, in;  // edges by entity
};

Adjacency adjacencyOf(const LevelGraph& level) {
  Adjacency adjacency;
  adjacency.out.resize(level.entities.size());
  adjacency.in.resize(level.entities.size());
  for (std::size_t e = 0; e < level.edges.size(); ++e) {
    const LevelEdge& edge = level.edges[e];
    if (edge.from == edge.to) continue;
    adjacency.out[edge.from].push_back(static_cast<int>(e));
    adjacency.in[edge.to].push_back(static_cast<int>(e));
  }
  return adjacency;
}

// Kahn's algorithm. When only cycles are left, the entity with the lowest index is next, and its open inputs are
// reversed.
void orderTopologically(LayeredState& state, const Adjacency& adjacency) {
  const LevelGraph& level = *state.level;
  const int n = state.entityCount;
  std::vector<int> waitingFor(n);
  std::vector<bool> taken(n, false);
  std::deque<int> ready;
  for (int v = 0; v < n; ++v) {
    waitingFor[v] = static_cast<int>(adjacency.in[v].size());
    if (waitingFor[v] == 0) ready.push_back(v);
  }
  int lowestOpen = 0;
  while (static_cast<int>(state.topological.size()) < n) {
    if (ready.empty()) {
      while (taken[lowestOpen]) ++lowestOpen;
      ready.push_back(lowestOpen);
    }
    const int v = ready.front();
    ready.pop_front();
    if (taken[v]) continue;
    taken[v] = true;
    state.topological.push_back(v);
    for (const int e : adjacency.out[v]) {
      const int w = level.edges[e].to;
      if (!taken[w] && --waitingFor[w] == 0) ready.push_back(w);
    }
  }
  std::vector<int> place(n);
  for (int i = 0; i < n; ++i) place[state.topological[i]] = i;
  for (std::size_t e = 0; e < level.edges.size(); ++e) {
    state.reversed[e] = place[level.edges[e].from] > place[level.edges[e].to];
  }
}

}  // namespace

void rankLevel(LayeredState& state) {
  const LevelGraph& level = *state.level;
  const int n = state.entityCount;
  state.reversed.assign(level.edges.size(), false);
  const Adjacency adjacency = adjacencyOf(level);
  orderTopologically(state, adjacency);
  std::vector<bool> loops(n, false);  // a box whose only edge returns to it is placed with the boxes without edges
  for (const LevelEdge& edge : level.edges)
    if (edge.from == edge.to) loops[edge.from] = true;

  const auto upper = [&](int e) { return state.reversed[e] ? level.edges[e].to : level.edges[e].from; };
  const auto lower = [&](int e) { return state.reversed[e] ? level.edges[e].from : level.edges[e].to; };
  std::vector<std::vector<int>> ups(n), downs(n);
  for (int e = 0; e < static_cast<int>(level.edges.size()); ++e) {
    if (level.edges[e].from == level.edges[e].to) continue;
    downs[upper(e)].push_back(lower(e));
    ups[lower(e)].push_back(upper(e));
  }
  // Several wires between the same two entities, of which one is an open container, pull as one wire, as when it is
  // closed.
  for (std::vector<std::vector<int>>* of : {&ups, &downs}) {
    for (std::vector<int>& neighbours : *of) {
      std::sort(neighbours.begin(), neighbours.end());
      neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
    }
  }
  // Ports that enter and leave on a cycle would pull boxes out of their order, so that ports stay at their ends.
  using Kind = LevelEntity::Kind;
  const auto kind = [&](int v) { return level.entities[v].kind; };
  const bool hasIn = std::any_of(level.entities.begin(), level.entities.end(),
                                 [](const LevelEntity& entity) { return entity.kind == Kind::PortIn; });
  state.rank.assign(n, hasIn ? 1 : 0);
  std::vector<bool> loose(n, true);  // it cannot be reached from the top
  int last = hasIn ? 1 : 0;
  for (const int v : state.topological) {
    if (kind(v) == Kind::PortIn) {
      state.rank[v] = 0;
      loose[v] = false;
      continue;
    }
    for (const int u : ups[v]) {
      state.rank[v] = std::max(state.rank[v], state.rank[u] + 1);
      if (!loose[u]) loose[v] = false;
    }
    if (kind(v) == Kind::Box) last = std::max(last, state.rank[v]);
  }
  for (auto it = state.topological.rbegin(); it != state.topological.rend(); ++it) {
    const int v = *it;
    if (kind(v) != Kind::Box) continue;
    if (!loose[v] && downs[v].size() <= ups[v].size()) continue;
    int nearest = INT_MAX;
    for (const int w : downs[v]) {
      if (kind(w) == Kind::Box) nearest = std::min(nearest, state.rank[w]);
    }
    if (nearest != INT_MAX) state.rank[v] = std::max(state.rank[v], nearest - 1);
  }
  for (int v = 0; v < n; ++v) {
    if (kind(v) == Kind::PortOut) state.rank[v] = last + 1;
    if (adjacency.in[v].empty() && adjacency.out[v].empty() && !loops[v]) state.rank[v] = -1;
  }
}

}  // namespace fusescope
