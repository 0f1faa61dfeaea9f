#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stop.h"

namespace fusescope {

/// The graph to be laid out: boxes with sizes, containers of boxes, and edges. It knows nothing of networks. All
/// lengths are in px.
struct LayoutBox {
  std::string id;
  double width = 0, height = 0;
  int parent = -1;  ///< index into LayoutGraph::containers; -1: the top level
};
struct LayoutContainer {
  std::string id;
  int parent = -1;
  double header = 28;   ///< free height above its contents
  double padding = 16;  ///< free space on the other sides
  double minWidth = 0;  ///< space for the text in its header
};
struct LayoutEdge {
  int from = 0, to = 0;  ///< indices into boxes
};
struct LayoutGraph {
  std::vector<LayoutBox> boxes;
  std::vector<LayoutContainer> containers;
  std::vector<LayoutEdge> edges;
};

struct PlacedRect {
  double x = 0, y = 0, width = 0, height = 0;  ///< top left corner and size; y grows downwards
  bool operator==(const PlacedRect&) const = default;
};
struct PlacedPoint {
  double x = 0, y = 0;
  bool operator==(const PlacedPoint&) const = default;
};
/// A chain of cubic Bézier curves: points 0, 3, 6, … are on the curve, and the two points between them are control
/// points.
struct PlacedEdge {
  std::vector<PlacedPoint> points;
  bool operator==(const PlacedEdge&) const = default;
};
/// A stretch, other than the first, of a wrapped level: the x at which its gutter begins, and the x at which it begins
/// itself.
struct PlacedColumn {
  double gutter = 0, left = 0;
  bool operator==(const PlacedColumn&) const = default;
};
enum class LayoutEngine { Layered, Graphviz };
struct LayoutGeometry {
  std::vector<PlacedRect> boxes;       ///< by index in LayoutGraph::boxes
  std::vector<PlacedRect> containers;  ///< by index in LayoutGraph::containers
  std::vector<PlacedEdge> edges;       ///< by index in LayoutGraph::edges
  double width = 0, height = 0;
  LayoutEngine engine = LayoutEngine::Layered;         ///< Graphviz if it drew at least one level
  std::map<int, std::vector<PlacedColumn>> columns{};  ///< of wrapped levels, by container; -1 is the top level
  bool operator==(const LayoutGeometry&) const = default;
};

struct LevelGraph;
struct LevelLayout;
class LevelCache;

/// The picture that was shown before. Boxes that were in it keep their order from left to right as long as that does
/// not cause many more crossings, and wrapped levels stay wrapped at the same places unless they are far from the
/// wanted proportion. A person who opens a container thus finds its surroundings again.
struct EarlierPicture {
  /// Returns the rectangle of the box or container with this id; nothing if it was not in the picture. May be empty.
  std::function<std::optional<PlacedRect>(const std::string& id)> rectOf{};
  /// The proportion for which it was laid out; if it differs from the wanted one, everything is wrapped anew.
  double proportion = 0;
};

/// The options of layOut(), including those for wrapping. The page is a rectangle of the wanted proportion with about
/// the area of all boxes. A level (the contents of a container, or the top level) that is at least 1.6 times as high as
/// the page is cut into stretches that are placed side by side; a lower level is not cut. A level with more than half
/// of all boxes by area gets the wanted proportion; any other level is cut to the height of the page, so that the
/// levels around it need not be higher. Cuts are made where few wires pass. A level that is at most about as high as a
/// small window is never cut.
struct LayoutOptions {
  /// Draws a level with Graphviz' dot, or returns nothing. It is called for levels whose layered layout has crossings
  /// and for which dot is fast; the drawing with fewer crossings is used. If it is empty, the layered layout draws
  /// everything.
  std::function<std::optional<LevelLayout>(const LevelGraph&)> dot{};
  LevelCache* cache = nullptr;  ///< levels that were laid out before; may be null
  StopToken stop{};
  /// Width divided by height of the area in which the picture is shown; 0: nothing is wrapped.
  double proportion = 0;
  EarlierPicture earlier{};
};

/// Lays out a graph of any size, container by container. Apart from what dot draws, the time is linear (about a second
/// for 100,000 boxes).
Result<LayoutGeometry> layOut(const LayoutGraph& graph, const LayoutOptions& options = {});

}  // namespace fusescope
