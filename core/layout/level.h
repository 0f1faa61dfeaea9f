#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/json.h"
#include "layout/layout.h"

namespace fusescope {

// A LayoutGraph is laid out one container ("level") at a time, innermost first: a laid-out container is a box in its
// parent. An edge that crosses a container's border becomes one edge per level, joined at a port: a point on the
// border, of no size, in the first rank of the level if the edge comes in, in the last if it leaves. Before that, the
// outside has said in which order the ports are (orderHierarchy).

/// A thing with a size and a place in one level.
struct LevelEntity {
  enum class Kind { Box, PortIn, PortOut };
  Kind kind = Kind::Box;
  double width = 0, height = 0;
  int inside = -1;  ///< of a container: the level that it holds
};

/// `fromX` and `toX`: where on the entity's bottom and top the edge must attach, from its left side; empty: anywhere.
struct LevelEdge {
  int from = 0, to = 0;
  int fromPort = -1, toPort = -1;  ///< where it leaves or enters a container: the port, an entity of the level inside
  std::optional<double> fromX{}, toX{};
};

struct LevelGraph {
  std::vector<LevelEntity> entities;
  std::vector<LevelEdge> edges;
  /// Ports of either kind, left to right; those that are not named stand anywhere.
  std::vector<int> portsIn{}, portsOut{};
};

struct LevelLayout {
  std::vector<PlacedRect> entities;
  std::vector<PlacedEdge> edges;
  double width = 0, height = 0;
  LayoutEngine engine = LayoutEngine::Layered;
  std::vector<PlacedColumn> columns{};  ///< of a level that is wrapped (wrapping.h)
};

/// Graphviz' dot; empty if it could not place the level. Takes long for many edges that pass many ranks, cannot be
/// stopped and is not thread-safe: the window has it in a process of its own (app/layoutd).
std::optional<LevelLayout> layOutWithDot(const LevelGraph& level);

/// One level by itself, whose ports stand in the order that it names. As layOut() does each of its levels, but it is
/// never wrapped.
Result<std::shared_ptr<const LevelLayout>> layOutLevel(const LevelGraph& graph, const LayoutOptions& options);

/// How much room a container has round what it holds.
struct ContainerFrame {
  double width = 0, height = 0;
  double left = 0;  ///< of its content; its top is the header
};
ContainerFrame frameOf(const LayoutContainer& container, const LevelLayout& content);

Json toJson(const LevelGraph& graph);
Result<LevelGraph> levelGraphFromJson(const Json& json);
Json toJson(const LevelLayout& layout);
Result<LevelLayout> levelLayoutFromJson(const Json& json);

/// Checks indices, sizes and nesting.
Status checkLayoutGraph(const LayoutGraph& graph);

/// A straight piece as a cubic; smooth S from one vertical to another. Both append to a chain that ends at its last
/// point.
void appendLine(PlacedEdge& edge, PlacedPoint to);
void appendCurve(PlacedEdge& edge, PlacedPoint to);
/// Appends a way along the axes through `corners`, which are rounded.
void appendWay(PlacedEdge& edge, const std::vector<PlacedPoint>& corners);

}  // namespace fusescope
