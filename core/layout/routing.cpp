#include <algorithm>
#include <cmath>

#include "layout/layered.h"

namespace fusescope {
namespace {

constexpr double kRankGap = 40;
constexpr double kPortGap = 22;
constexpr double kLargestGap = 110;
constexpr double kAttachmentStep = 16;
constexpr double kLaneGap = 14;

// Distributes the free ends of the links on one side of a box in the order of their other ends. A straight link keeps
// the middle.
void spreadEnds(LayeredState& state, int v, std::vector<int> links, bool bottom) {
  if (state.isBend(v) || links.size() < 2) return;
  const auto fixed = [&](int l) { return bottom ? state.links[l].upperFixed : state.links[l].lowerFixed; };
  if (std::any_of(links.begin(), links.end(), fixed)) return;
  const auto otherX = [&](int l) {
    const RankLink& link = state.links[l];
    return bottom ? state.centre[link.lower] + link.lowerX : state.centre[link.upper] + link.upperX;
  };
  std::stable_sort(links.begin(), links.end(), [&](int a, int b) { return otherX(a) < otherX(b); });
  const double count = static_cast<double>(links.size());
  const double step = std::min(kAttachmentStep, state.width(v) * 0.7 / (count - 1));
  double middle = (count - 1) / 2;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (std::abs(otherX(links[i]) - state.centre[v]) < 0.5) middle = static_cast<double>(i);
  }
  const double reach = state.width(v) * 0.42;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const double offset = std::clamp((static_cast<double>(i) - middle) * step, -reach, reach);
    (bottom ? state.links[links[i]].upperX : state.links[links[i]].lowerX) = offset;
  }
}

void placeDown(LayeredState& state) {
  const int rankCount = static_cast<int>(state.ranks.size());
  state.rankTop.assign(rankCount, 0);
  state.rankBottom.assign(rankCount, 0);
  double y = 0;
  for (int r = 0; r < rankCount; ++r) {
    double tallest = 0, widestStep = 0;
    bool ports = false;
    for (const int v : state.ranks[r]) {
      tallest = std::max(tallest, state.height(v));
      ports = ports || state.kind(v) != LevelEntity::Kind::Box;
      for (const int l : state.below[v]) {
        const RankLink& link = state.links[l];
        widestStep =
            std::max(widestStep, std::abs(state.centre[link.lower] + link.lowerX - state.centre[v] - link.upperX));
        ports = ports || state.kind(link.lower) == LevelEntity::Kind::PortOut;
      }
    }
    state.rankTop[r] = y;
    state.rankBottom[r] = y + tallest;
    const double least = ports ? kPortGap : kRankGap;
    y += tallest + std::min(least + 0.07 * widestStep, kLargestGap);
  }
}

// Draws an edge through its links: straight through the ranks, curved in the gaps.
PlacedEdge drawn(const LayeredState& state, const EdgePath& path, const LevelLayout& layout) {
  PlacedEdge edge;
  const RankLink& first = state.links[path.links.front()];
  const PlacedRect& from = layout.entities[first.upper];
  appendLine(edge, {state.centre[first.upper] + first.upperX, from.y + from.height});
  for (const int l : path.links) {
    const RankLink& link = state.links[l];
    appendLine(edge, {state.centre[link.upper] + link.upperX, state.rankBottom[state.rank[link.upper]]});
    appendCurve(edge, {state.centre[link.lower] + link.lowerX, state.rankTop[state.rank[link.lower]]});
  }
  const RankLink& last = state.links[path.links.back()];
  appendLine(edge, {state.centre[last.lower] + last.lowerX, layout.entities[last.lower].y});
  return edge;
}

// Draws an edge that exceeded the budget of bends: along a lane to the right of everything.
PlacedEdge drawnOutside(const LayeredState& state, int upper, int lower, double lane, const LevelLayout& layout) {
  const PlacedRect &from = layout.entities[upper], &to = layout.entities[lower];
  const int r = state.rank[upper], s = state.rank[lower];
  PlacedEdge edge;
  const double xFrom = from.x + from.width / 2, xTo = to.x + to.width / 2;
  appendLine(edge, {xFrom, from.y + from.height});
  if (s <= r) {
    appendCurve(edge, {xTo, to.y});
    return edge;
  }
  appendLine(edge, {xFrom, state.rankBottom[r]});
  appendCurve(edge, {lane, state.rankTop[r + 1]});
  appendLine(edge, {lane, state.rankBottom[s - 1]});
  appendCurve(edge, {xTo, state.rankTop[s]});
  appendLine(edge, {xTo, to.y});
  return edge;
}

PlacedEdge selfLoop(const PlacedRect& box) {
  PlacedEdge edge;
  appendLine(edge, {box.x + box.width / 2, box.y + box.height});
  const double right = box.x + box.width + 20;
  edge.points.push_back({right, box.y + box.height + 24});
  edge.points.push_back({right, box.y - 24});
  edge.points.push_back({box.x + box.width / 2, box.y});
  return edge;
}

}  // namespace

LevelLayout routeEdges(LayeredState& state) {
  const LevelGraph& level = *state.level;
  for (int v = 0; v < state.entityCount; ++v) {
    spreadEnds(state, v, state.below[v], true);
    spreadEnds(state, v, state.above[v], false);
  }
  placeDown(state);

  LevelLayout layout;
  layout.entities.resize(level.entities.size());
  for (int v = 0; v < state.entityCount; ++v) {
    if (state.rank[v] < 0) continue;
    const double slack = state.rankBottom[state.rank[v]] - state.rankTop[state.rank[v]] - state.height(v);
    layout.entities[v] = {state.centre[v] - state.width(v) / 2, state.rankTop[state.rank[v]] + slack / 2,
                          state.width(v), state.height(v)};
    layout.width = std::max(layout.width, layout.entities[v].x + layout.entities[v].width);
  }
  for (std::size_t v = state.entityCount; v < state.rank.size(); ++v) {
    layout.width = std::max(layout.width, state.centre[v]);
  }
  layout.height = state.rankBottom.empty() ? 0 : state.rankBottom.back();

  const double boxesRight = layout.width;
  int outside = 0;
  layout.edges.resize(level.edges.size());
  for (std::size_t e = 0; e < level.edges.size(); ++e) {
    const LevelEdge& edge = level.edges[e];
    if (edge.from == edge.to) {
      layout.edges[e] = selfLoop(layout.entities[edge.from]);
      layout.width = std::max(layout.width, layout.entities[edge.from].x + layout.entities[edge.from].width + 20);
      continue;
    }
    const EdgePath& path = state.paths[e];
    if (!path.links.empty()) {
      layout.edges[e] = drawn(state, path, layout);
    } else {
      const double lane = boxesRight + kLaneGap * (1 + outside++ % 16);
      layout.width = std::max(layout.width, lane + kLaneGap);
      layout.edges[e] =
          drawnOutside(state, path.reversed ? edge.to : edge.from, path.reversed ? edge.from : edge.to, lane, layout);
    }
    if (path.reversed) std::reverse(layout.edges[e].points.begin(), layout.edges[e].points.end());
  }
  return layout;
}

}  // namespace fusescope
