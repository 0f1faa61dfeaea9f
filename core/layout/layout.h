#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stop.h"

namespace fusescope {

/// A graph to lay out: boxes with sizes, containers that hold boxes, edges. No knowledge of networks. Units: px.
struct LayoutBox {
  std::string id;
  double width = 0, height = 0;
  int parent = -1;  ///< index into LayoutGraph::containers; -1: the top level
};
struct LayoutContainer {
  std::string id;
  int parent = -1;
  double header = 28;   ///< height kept free above its content
  double padding = 16;  ///< on the other sides
  double minWidth = 0;  ///< room for what its header says
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
/// A cubic Bézier chain: points 0, 3, 6, … lie on the curve, the two between are controls.
struct PlacedEdge {
  std::vector<PlacedPoint> points;
  bool operator==(const PlacedEdge&) const = default;
};
/// A stretch, but the first, of what is wrapped: in x, where its gutter and where it itself begins.
struct PlacedColumn {
  double gutter = 0, left = 0;
  bool operator==(const PlacedColumn&) const = default;
};
enum class LayoutEngine { Layered, Graphviz };
struct LayoutGeometry {
  std::vector<PlacedRect> boxes;       ///< as LayoutGraph::boxes
  std::vector<PlacedRect> containers;  ///< as LayoutGraph::containers
  std::vector<PlacedEdge> edges;       ///< as LayoutGraph::edges
  double width = 0, height = 0;
  LayoutEngine engine = LayoutEngine::Layered;         ///< Graphviz if it drew any of the levels
  std::map<int, std::vector<PlacedColumn>> columns{};  ///< of what is wrapped: by container, -1: the top
  bool operator==(const LayoutGeometry&) const = default;
};

struct LevelGraph;
struct LevelLayout;
class LevelCache;

/// The picture that a new one comes of. Boxes that stood in it keep their order from left to right as long as that does
/// not cross many more wires, and what was wrapped stays wrapped where it was unless that has become far from the
/// wanted proportion: whoever opens something finds again what is around it.
struct EarlierPicture {
  /// Where the box or container of that id stood; empty: nowhere.
  std::function<std::optional<PlacedRect>(const std::string& id)> rectOf{};
  double proportion = 0;  ///< that it was laid out for; where it is another, all is wrapped anew
};

/// Wrapping. The page is a rectangle of the wanted proportion with about the area of all boxes. A level (what one
/// container holds, or the top) that is at least 1.6 times as high as the page is cut into stretches that stand side by
/// side; what is lower stays in one piece. A level that holds more than half of all boxes by area takes the wanted
/// proportion; any other one is cut to the height of the page, so that the levels around it need not be higher.
/// Levels are cut where few wires pass. What is at most about as high as a small window is never wrapped.
struct LayoutOptions {
  /// Draws a level with Graphviz' dot, or gives nothing. Asked for levels where the layered layout crosses and for
  /// which dot is quick; what crosses less is taken. Empty: the layered layout draws everything.
  std::function<std::optional<LevelLayout>(const LevelGraph&)> dot{};
  LevelCache* cache = nullptr;  ///< of levels that were laid out before
  StopToken stop{};
  /// Width to height of where the picture is shown; 0: nothing is wrapped.
  double proportion = 0;
  EarlierPicture earlier{};
};

/// Container by container, for graphs of any size: linear time but for what dot draws (100,000 boxes in about a
/// second).
Result<LayoutGeometry> layOut(const LayoutGraph& graph, const LayoutOptions& options = {});

}  // namespace fusescope
