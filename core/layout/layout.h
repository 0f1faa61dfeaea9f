#pragma once

#include <string>
#include <vector>

#include "base/json.h"
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
};
struct PlacedPoint {
  double x = 0, y = 0;
};
/// A cubic Bézier chain: points 0, 3, 6, … lie on the curve, the two between are controls.
struct PlacedEdge {
  std::vector<PlacedPoint> points;
};
struct LayoutGeometry {
  std::vector<PlacedRect> boxes;       ///< as LayoutGraph::boxes
  std::vector<PlacedRect> containers;  ///< as LayoutGraph::containers
  std::vector<PlacedEdge> edges;       ///< as LayoutGraph::edges
  double width = 0, height = 0;
  std::string engine;  ///< "graphviz" or "layered": which algorithm placed it
};

/// Linear-time layering for graphs of any size (100,000 boxes in under a second): in this process, cancellable.
Result<LayoutGeometry> layoutLayered(const LayoutGraph& graph, const StopToken& stop = {});
/// Container by container, each with Graphviz `dot` or the layered layout, whichever crosses less (then: is shorter);
/// for small containers. Not thread-safe and cannot be stopped: it runs in the helper process (app/layoutd). Containers
/// above `largest` boxes use layoutLayered.
Result<LayoutGeometry> layoutGraphviz(const LayoutGraph& graph, std::size_t largest = 400);

Json toJson(const LayoutGraph& graph);
Result<LayoutGraph> layoutGraphFromJson(const Json& json);
Json toJson(const LayoutGeometry& geometry);
Result<LayoutGeometry> layoutGeometryFromJson(const Json& json);

}  // namespace fusescope
