#include "layout/layered.h"

#include <algorithm>
#include <cmath>

namespace fusescope {
namespace {

constexpr double kGridGap = 24;
constexpr double kGridAspect = 1.6;

// Links must be attached where the ports of laid-out containers are.
void fixAttachments(LayeredState& state) {
  const auto fix = [&](int entity, const std::optional<double>& x, double& offset, bool& fixed) {
    fixed = x.has_value();
    offset = fixed ? *x - state.width(entity) / 2 : 0;
  };
  for (RankLink& link : state.links) {
    if (link.upperEdge >= 0) fix(link.upper, state.level->edges[link.upperEdge].fromX, link.upperX, link.upperFixed);
    if (link.lowerEdge >= 0) fix(link.lower, state.level->edges[link.lowerEdge].toX, link.lowerX, link.lowerFixed);
  }
}

}  // namespace

void placeLonely(const LayeredState& state, LevelLayout& layout) {
  double area = 0;
  for (int v = 0; v < state.entityCount; ++v)
    if (state.rank[v] < 0) area += (state.width(v) + kGridGap) * (state.height(v) + kGridGap);
  if (area == 0) return;
  const double rowWidth = std::max(layout.width, std::sqrt(area * kGridAspect));
  double x = 0, y = layout.height > 0 ? layout.height + kGridGap : 0, tallest = 0;
  for (int v = 0; v < state.entityCount; ++v) {
    if (state.rank[v] >= 0) continue;
    const double width = state.width(v), height = state.height(v);
    if (x > 0 && x + width > rowWidth) {
      x = 0;
      y += tallest + kGridGap;
      tallest = 0;
    }
    layout.entities[v] = {x, y, width, height};
    layout.width = std::max(layout.width, x + width);
    x += width + kGridGap;
    tallest = std::max(tallest, height);
  }
  layout.height = y + tallest;
}

LayeredState rankedLevel(const LevelGraph& level) {
  LayeredState state;
  state.level = &level;
  state.entityCount = static_cast<int>(level.entities.size());
  rankLevel(state);
  addBends(state, mostBends(level.entities.size()));
  return state;
}

Result<LevelLayout> drawLayered(LayeredState& state, const StopToken& stop) {
  fixAttachments(state);
  TRY(placeAcross(state, stop));
  LevelLayout layout = routeEdges(state);
  placeLonely(state, layout);
  return layout;
}

}  // namespace fusescope
