#include <algorithm>
#include <map>
#include <numeric>

#include "layout/layered.h"

namespace fusescope {
namespace {

// Lanes are kept to a small multiple of the boxes, so that the whole stays linear.
std::size_t bendBudget(std::size_t entities) {
  return 4 * entities + 20'000;
}

int addLink(LayeredState& state, Link link) {
  const int index = static_cast<int>(state.links.size());
  state.below[link.upper].push_back(index);
  state.above[link.lower].push_back(index);
  state.links.push_back(link);
  return index;
}

// Attachment of an edge at an entity: the offset from its centre if the edge fixes it.
struct Attachment {
  double offset = 0;
  bool fixed = false;
};
Attachment attachment(const LevelGraph& level, const std::optional<double>& x, int entity) {
  if (!x) return {};
  return {*x - level.entities[entity].width / 2, true};
}

}  // namespace

double LayeredState::width(int node) const {
  return isBend(node) ? 0 : level->entities[node].width;
}
double LayeredState::height(int node) const {
  return isBend(node) ? 0 : level->entities[node].height;
}

void addBends(LayeredState& state) {
  const LevelGraph& level = *state.level;
  const int n = state.entityCount;
  // Edges of one source leave together unless they must attach at different places.
  struct Lane {
    int source = 0;
    Attachment start;
    int deepest = 0;
    std::vector<int> edges;
  };
  std::vector<Lane> lanes;
  std::map<std::pair<int, long>, int> laneOf;
  state.paths.resize(level.edges.size());
  for (int e = 0; e < static_cast<int>(level.edges.size()); ++e) {
    const LevelEdge& edge = level.edges[e];
    if (edge.from == edge.to) continue;
    const bool turned = state.paths[e].reversed = state.reversed[e];
    const int source = turned ? edge.to : edge.from;
    const int target = turned ? edge.from : edge.to;
    const Attachment start = turned ? Attachment{} : attachment(level, edge.fromX, source);
    const long place = start.fixed ? 1 + static_cast<long>(start.offset * 16) : 0;
    const auto [it, added] = laneOf.try_emplace({source, place}, static_cast<int>(lanes.size()));
    if (added) lanes.push_back({.source = source, .start = start, .deepest = state.rank[source]});
    Lane& lane = lanes[it->second];
    lane.edges.push_back(e);
    lane.deepest = std::max(lane.deepest, state.rank[target]);
  }

  std::vector<int> byLength(lanes.size());
  std::iota(byLength.begin(), byLength.end(), 0);
  const auto length = [&](int i) { return std::max(0, lanes[i].deepest - state.rank[lanes[i].source] - 1); };
  std::stable_sort(byLength.begin(), byLength.end(), [&](int a, int b) { return length(a) < length(b); });
  std::size_t bends = 0;
  std::vector<bool> inside(lanes.size(), false);
  for (const int i : byLength) {
    bends += static_cast<std::size_t>(length(i));
    inside[i] = bends <= bendBudget(level.entities.size());
  }

  state.above.resize(n);
  state.below.resize(n);

  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = lanes[i];
    std::vector<int> chain;      // links from the source down
    std::vector<int> chainNode;  // the bend each ends in
    const int sourceRank = state.rank[lane.source];
    for (const int e : lane.edges) {
      const LevelEdge& edge = level.edges[e];
      const int target = state.paths[e].reversed ? edge.from : edge.to;
      const int span = state.rank[target] - sourceRank;
      if (span < 1 || (span > 1 && !inside[i])) continue;
      while (static_cast<int>(chainNode.size()) < span - 1) {
        const int bend = static_cast<int>(state.rank.size());
        state.rank.push_back(sourceRank + static_cast<int>(chainNode.size()) + 1);
        state.above.emplace_back();
        state.below.emplace_back();
        const bool first = chainNode.empty();
        chain.push_back(addLink(state, {.upper = first ? lane.source : chainNode.back(),
                                        .lower = bend,
                                        .upperX = first ? lane.start.offset : 0,
                                        .upperFixed = first && lane.start.fixed}));
        chainNode.push_back(bend);
      }
      const Attachment end = state.paths[e].reversed ? Attachment{} : attachment(level, edge.toX, target);
      const bool direct = span == 1;
      const int last = addLink(state, {.upper = direct ? lane.source : chainNode[span - 2],
                                       .lower = target,
                                       .upperX = direct ? lane.start.offset : 0,
                                       .lowerX = end.offset,
                                       .upperFixed = direct && lane.start.fixed,
                                       .lowerFixed = end.fixed});
      state.paths[e].links.assign(chain.begin(), chain.begin() + (span - 1));
      state.paths[e].links.push_back(last);
    }
  }

  // Longest paths over links: a link is critical if no path through its level of the graph is longer than one through
  // it.
  std::vector<int> down(n, 0), up(n, 0);
  for (const int v : state.topological) {
    for (const int l : state.below[v]) {
      if (!state.isBend(state.links[l].lower)) up[state.links[l].lower] = std::max(up[state.links[l].lower], up[v] + 1);
    }
  }
  for (auto it = state.topological.rbegin(); it != state.topological.rend(); ++it) {
    for (const int l : state.below[*it]) {
      if (!state.isBend(state.links[l].lower)) down[*it] = std::max(down[*it], down[state.links[l].lower] + 1);
    }
  }
  for (Link& link : state.links) {
    if (state.isBend(link.upper) || state.isBend(link.lower)) continue;
    const bool longestOut = down[link.upper] == down[link.lower] + 1;
    const bool longestIn = up[link.lower] == up[link.upper] + 1;
    link.critical = longestOut && longestIn;
  }
}

}  // namespace fusescope
