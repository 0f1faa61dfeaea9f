#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "layout/layout.h"

namespace fusescope {

// The inside of the layout library. A LayoutGraph is laid out one container ("level") at a time, innermost first: a
// laid-out container is a box in its parent. An edge that crosses a container's border becomes one edge per level,
// joined at a port: a point on the border, of no size, in the first rank of the level if the edge comes in, in the last
// if it leaves.

/// A thing with a size and a place in one level.
struct LevelEntity {
  enum class Kind { Box, PortIn, PortOut };
  Kind kind = Kind::Box;
  double width = 0, height = 0;
};

/// `fromX` and `toX`: where on the entity's bottom and top the edge must attach, from its left side; empty: anywhere.
struct LevelEdge {
  int from = 0, to = 0;
  std::optional<double> fromX{}, toX{};
};

struct LevelGraph {
  std::vector<LevelEntity> entities;
  std::vector<LevelEdge> edges;
};

struct LevelLayout {
  std::vector<PlacedRect> entities;
  std::vector<PlacedEdge> edges;
  double width = 0, height = 0;
};

using LevelEngine = std::function<Result<LevelLayout>(const LevelGraph&, const StopToken&)>;

Result<LevelLayout> layoutLevelLayered(const LevelGraph& level, const StopToken& stop);
/// Null result if dot could not place it.
Result<LevelLayout> layoutLevelGraphviz(const LevelGraph& level);

/// Checks indices, sizes and nesting.
Status checkLayoutGraph(const LayoutGraph& graph);
/// Lays every level out with `engine` and puts the pieces together. `graph` has been checked.
Result<LayoutGeometry> layoutByContainers(const LayoutGraph& graph, const LevelEngine& engine, const StopToken& stop);

/// A straight piece as a cubic; smooth S from one vertical to another. Both append to a chain that ends at its last
/// point.
void appendLine(PlacedEdge& edge, PlacedPoint to);
void appendCurve(PlacedEdge& edge, PlacedPoint to);

}  // namespace fusescope
