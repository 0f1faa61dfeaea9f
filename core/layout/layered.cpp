#include "layout/layered.h"

#include <algorithm>
#include <cmath>

namespace fusescope {
namespace {

constexpr double kGridGap = 24;
constexpr double kGridAspect = 1.6;

struct Parted {
  LevelGraph connected;
  std::vector<int> connectedIndex;  // connected entity -> entity of the level
  std::vector<int> lonely;          // boxes that no edge touches
};

Parted partOf(const LevelGraph& level) {
  std::vector<bool> touched(level.entities.size(), false);
  for (const LevelEdge& edge : level.edges) touched[edge.from] = touched[edge.to] = true;
  Parted parted;
  std::vector<int> to(level.entities.size(), -1);
  for (std::size_t v = 0; v < level.entities.size(); ++v) {
    if (!touched[v]) {
      parted.lonely.push_back(static_cast<int>(v));
      continue;
    }
    to[v] = static_cast<int>(parted.connectedIndex.size());
    parted.connectedIndex.push_back(static_cast<int>(v));
    parted.connected.entities.push_back(level.entities[v]);
  }
  parted.connected.edges = level.edges;
  for (LevelEdge& edge : parted.connected.edges) {
    edge.from = to[edge.from];
    edge.to = to[edge.to];
  }
  return parted;
}

// Rows under the rest, about as wide as it or as a page.
void placeLonely(const LevelGraph& level, const std::vector<int>& lonely, LevelLayout& layout) {
  if (lonely.empty()) return;
  double area = 0;
  for (const int v : lonely) area += (level.entities[v].width + kGridGap) * (level.entities[v].height + kGridGap);
  const double rowWidth = std::max(layout.width, std::sqrt(area * kGridAspect));
  double x = 0, y = layout.height > 0 ? layout.height + kGridGap : 0, tallest = 0;
  for (const int v : lonely) {
    const LevelEntity& entity = level.entities[v];
    if (x > 0 && x + entity.width > rowWidth) {
      x = 0;
      y += tallest + kGridGap;
      tallest = 0;
    }
    layout.entities[v] = {x, y, entity.width, entity.height};
    layout.width = std::max(layout.width, x + entity.width);
    x += entity.width + kGridGap;
    tallest = std::max(tallest, entity.height);
  }
  layout.height = y + tallest;
}

}  // namespace

Result<LevelLayout> layoutLevelLayered(const LevelGraph& level, const StopToken& stop) {
  Parted parted = partOf(level);
  LayeredState state;
  state.level = &parted.connected;
  state.entityCount = static_cast<int>(parted.connected.entities.size());
  rankLevel(state);
  TRY(checkStop(stop));
  addBends(state);
  TRY(orderRanks(state, stop));
  TRY(placeAcross(state, stop));
  LevelLayout connected = routeEdges(state);
  LevelLayout layout;
  layout.entities.resize(level.entities.size());
  for (std::size_t i = 0; i < connected.entities.size(); ++i) {
    layout.entities[parted.connectedIndex[i]] = connected.entities[i];
  }
  layout.edges = std::move(connected.edges);
  layout.width = connected.width;
  layout.height = connected.height;
  placeLonely(level, parted.lonely, layout);
  return layout;
}

Result<LayoutGeometry> layoutLayered(const LayoutGraph& graph, const StopToken& stop) {
  TRY(checkLayoutGraph(graph));
  LayoutGeometry geometry = TRY(layoutByContainers(graph, layoutLevelLayered, stop));
  geometry.engine = "layered";
  return geometry;
}

}  // namespace fusescope
