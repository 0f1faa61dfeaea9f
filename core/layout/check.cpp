#include <cmath>

#include "layout/layout_limits.h"
#include "layout/level.h"

namespace fusescope {
Status checkLayoutGraph(const LayoutGraph& graph) {
  const int containers = static_cast<int>(graph.containers.size());
  const int boxes = static_cast<int>(graph.boxes.size());
  for (int c = 0; c < containers; ++c) {
    const LayoutContainer& container = graph.containers[c];
    if (container.parent < -1 || container.parent >= containers) {
      return badLayout("container '" + container.id + "' names a parent that does not exist", "containers");
    }
    if (!isSize(container.header) || !isSize(container.padding) || !isSize(container.minWidth)) {
      return badLayout("container '" + container.id + "' has a header, padding or width that is not possible",
                       "containers");
    }
  }
  std::vector<int> state(containers, 0);  // 1: being followed, 2: reaches the top
  for (int start = 0; start < containers; ++start) {
    int c = start;
    while (c >= 0 && state[c] == 0) {
      state[c] = 1;
      c = graph.containers[c].parent;
    }
    if (c >= 0 && state[c] == 1)
      return badLayout("container '" + graph.containers[c].id + "' is inside itself", "containers");
    for (c = start; c >= 0 && state[c] == 1; c = graph.containers[c].parent) state[c] = 2;
  }
  for (const LayoutBox& box : graph.boxes) {
    if (box.parent < -1 || box.parent >= containers) {
      return badLayout("box '" + box.id + "' names a container that does not exist", "boxes");
    }
    if (!isSize(box.width) || !isSize(box.height))
      return badLayout("box '" + box.id + "' has a size that is not possible", "boxes");
  }
  for (const LayoutEdge& edge : graph.edges) {
    if (edge.from < 0 || edge.from >= boxes || edge.to < 0 || edge.to >= boxes) {
      return badLayout("an edge names a box that does not exist", "edges");
    }
  }
  return Done{};
}

}  // namespace fusescope
