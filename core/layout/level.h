#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/json_fwd.h"
#include "layout/layout.h"

namespace fusescope {

// A LayoutGraph is laid out one container ("level") at a time, from the inside outwards: a container that is laid out
// is a box in the enclosing level. An edge that crosses the border of a container becomes one edge in each level; these
// are joined at a port, a point on the border without a size. A port is in the first rank of the level if the edge
// enters, and in the last rank if it leaves. The order of the ports was determined before by the enclosing level
// (orderHierarchy).

/// Something with a size and a place in one level.
struct LevelEntity {
  enum class Kind { Box, PortIn, PortOut };
  Kind kind = Kind::Box;
  double width = 0, height = 0;
  int inside = -1;  ///< for a container: the index of its level
};

/// `fromX` and `toX` are where the edge must be attached at the bottom of the first entity and at the top of the
/// second, from its left side; if they are empty, it may be attached anywhere.
struct LevelEdge {
  int from = 0, to = 0;
  /// The port at which it leaves or enters a container, as an entity of the inner level.
  int fromPort = -1, toPort = -1;
  std::optional<double> fromX{}, toX{};
};

struct LevelGraph {
  std::vector<LevelEntity> entities;
  std::vector<LevelEdge> edges;
  /// The ports of both kinds from left to right; ports that are not listed may be anywhere.
  std::vector<int> portsIn{}, portsOut{};
};

struct LevelLayout {
  std::vector<PlacedRect> entities;
  std::vector<PlacedEdge> edges;
  double width = 0, height = 0;
  LayoutEngine engine = LayoutEngine::Layered;
  std::vector<PlacedColumn> columns{};  ///< for a wrapped level (wrapping.h)
};

/// Lays out a level with Graphviz' dot. Returns nothing if dot could not place the level. It takes long if many edges
/// pass many ranks, cannot be stopped, and is not thread-safe; the window therefore runs it in a separate process
/// (app/layoutd).
std::optional<LevelLayout> layOutWithDot(const LevelGraph& level);

/// Lays out a single level whose ports are in the given order, as layOut() does for each of its levels, but without
/// wrapping.
Result<std::shared_ptr<const LevelLayout>> layOutLevel(const LevelGraph& graph, const LayoutOptions& options);

/// The space that a container needs around its contents.
struct ContainerFrame {
  double width = 0, height = 0;
  double left = 0;  ///< x of the contents; their y is the height of the header
};
ContainerFrame frameOf(const LayoutContainer& container, const LevelLayout& content);

Json toJson(const LevelGraph& graph);
Result<LevelGraph> levelGraphFromJson(const Json& json);
Json toJson(const LevelLayout& layout);
Result<LevelLayout> levelLayoutFromJson(const Json& json);

/// Checks indices, sizes and nesting.
Status checkLayoutGraph(const LayoutGraph& graph);

/// These functions append to a chain that ends at its last point: a straight piece (as a cubic curve), or a smooth S
/// from one vertical to another.
void appendLine(PlacedEdge& edge, PlacedPoint to);
void appendCurve(PlacedEdge& edge, PlacedPoint to);
/// Appends a path parallel to the axes through `corners`, which are rounded.
void appendWay(PlacedEdge& edge, const std::vector<PlacedPoint>& corners);

}  // namespace fusescope
