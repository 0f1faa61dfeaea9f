#include <algorithm>
#include <map>
#include <numeric>

#include "layout/layered.h"

namespace fusescope {
namespace {

int addBend(LayeredState& state, int rank) {
  const int bend = static_cast<int>(state.rank.size());
  state.rank.push_back(rank);
  state.above.emplace_back();
  state.below.emplace_back();
  return bend;
}

int addLink(LayeredState& state, RankLink link) {
  const int index = static_cast<int>(state.links.size());
  state.below[link.upper].push_back(index);
  state.above[link.lower].push_back(index);
  state.links.push_back(link);
  return index;
}

// The entities at the ends of an edge as it is drawn downwards. A reversed edge ends at its source.
int upperEnd(const LayeredState& state, int e) {
  return state.reversed[e] ? state.level->edges[e].to : state.level->edges[e].from;
}
int lowerEnd(const LayeredState& state, int e) {
  return state.reversed[e] ? state.level->edges[e].from : state.level->edges[e].to;
}

// A reversed edge may end anywhere, because its port is on the other side of the box.
int upperPort(const LayeredState& state, int e) {
  return state.reversed[e] ? -1 : state.level->edges[e].fromPort;
}
int lowerPort(const LayeredState& state, int e) {
  return state.reversed[e] ? -1 : state.level->edges[e].toPort;
}

// Edges of one source leave it together unless they leave at different ports.
struct Lane {
  int source = 0, port = -1;
  int deepest = 0;  // rank in which the longest of its edges ends
  std::vector<int> edges;
  bool inside = false;  // its edges may pass ranks between the boxes
};

std::vector<Lane> lanesOf(const LayeredState& state) {
  const LevelGraph& level = *state.level;
  std::vector<Lane> lanes;
  std::map<std::pair<int, int>, int> laneOf;
  for (int e = 0; e < static_cast<int>(level.edges.size()); ++e) {
    if (level.edges[e].from == level.edges[e].to) continue;
    const int source = upperEnd(state, e), port = upperPort(state, e);
    const auto [it, added] = laneOf.try_emplace({source, port}, static_cast<int>(lanes.size()));
    if (added) lanes.push_back({.source = source, .port = port, .deepest = state.rank[source]});
    Lane& lane = lanes[it->second];
    lane.edges.push_back(e);
    lane.deepest = std::max(lane.deepest, state.rank[lowerEnd(state, e)]);
  }
  return lanes;
}

// The shortest lanes are inside, as far as the budget allows.
void chooseInside(const LayeredState& state, std::size_t most, std::vector<Lane>& lanes) {
  std::vector<int> byLength(lanes.size());
  std::iota(byLength.begin(), byLength.end(), 0);
  const auto length = [&](int i) { return std::max(0, lanes[i].deepest - state.rank[lanes[i].source] - 1); };
  std::stable_sort(byLength.begin(), byLength.end(), [&](int a, int b) { return length(a) < length(b); });
  std::size_t bends = 0;
  for (const int i : byLength) {
    bends += static_cast<std::size_t>(length(i));
    lanes[i].inside = bends <= most;
  }
}

// Makes the links of the edges of a lane: they share its bends and leave them where their targets are. If the lane is
// not inside, edges that pass ranks get no links.
void linkLane(LayeredState& state, const Lane& lane) {
  std::vector<int> nodes{lane.source};  // the source, then a bend in each rank below it
  std::vector<int> links;               // from each of them to the next
  const int sourceRank = state.rank[lane.source];
  const auto linkDownFrom = [&](int depth, int lower) {
    RankLink link{.upper = nodes[depth], .lower = lower};
    if (depth > 0 || lane.port < 0) return link;
    link.upperPort = lane.port;
    link.upperEdge = lane.edges.front();
    return link;
  };
  for (const int e : lane.edges) {
    const int target = lowerEnd(state, e);
    const int passed = state.rank[target] - sourceRank - 1;  // ranks between the two
    if (passed < 0 || (passed > 0 && !lane.inside)) continue;
    for (int depth = static_cast<int>(links.size()); depth < passed; ++depth) {
      nodes.push_back(addBend(state, sourceRank + depth + 1));
      links.push_back(addLink(state, linkDownFrom(depth, nodes.back())));
    }
    RankLink last = linkDownFrom(passed, target);
    last.lowerPort = lowerPort(state, e);
    if (last.lowerPort >= 0) last.lowerEdge = e;
    EdgePath& path = state.paths[e];
    path.links.assign(links.begin(), links.begin() + passed);
    path.links.push_back(addLink(state, last));
  }
}

// Marks the links on longest paths: a link is critical if no path through its level of the graph is longer than one
// through it.
void markCritical(LayeredState& state) {
  std::vector<int> down(state.entityCount, 0), up(state.entityCount, 0);
  for (const int v : state.topological) {
    for (const int l : state.below[v]) {
      const int lower = state.links[l].lower;
      if (!state.isBend(lower)) up[lower] = std::max(up[lower], up[v] + 1);
    }
  }
  for (auto it = state.topological.rbegin(); it != state.topological.rend(); ++it) {
    for (const int l : state.below[*it]) {
      const int lower = state.links[l].lower;
      if (!state.isBend(lower)) down[*it] = std::max(down[*it], down[lower] + 1);
    }
  }
  for (RankLink& link : state.links) {
    if (state.isBend(link.upper) || state.isBend(link.lower)) continue;
    const bool longestOut = down[link.upper] == down[link.lower] + 1;
    const bool longestIn = up[link.lower] == up[link.upper] + 1;
    link.critical = longestOut && longestIn;
  }
}

}  // namespace

double LayeredState::width(int node) const {
  return isBend(node) ? 0 : level->entities[node].width;
}
double LayeredState::height(int node) const {
  return isBend(node) ? 0 : level->entities[node].height;
}

// The number of lanes is limited to a small multiple of the boxes, so that the time stays linear.
std::size_t mostBends(std::size_t entities) {
  return 4 * entities + 20'000;
}

void addBends(LayeredState& state, std::size_t most) {
  const std::size_t edges = state.level->edges.size();
  state.paths.resize(edges);
  for (std::size_t e = 0; e < edges; ++e) state.paths[e].reversed = state.reversed[e];
  state.above.resize(state.entityCount);
  state.below.resize(state.entityCount);

  std::vector<Lane> lanes = lanesOf(state);
  chooseInside(state, most, lanes);
  for (const Lane& lane : lanes) linkLane(state, lane);
  markCritical(state);
}

}  // namespace fusescope
