#include "ui/canvas/canvas_level.h"

namespace fusescope {

namespace {

std::vector<const FusedNode*> ofSeveralNodes(const CanvasLevel& level) {
  std::vector<const FusedNode*> several;
  for (const FusedNode& fused : level.cover.fusedNodes)
    if (fused.nodes.size() > 1) several.push_back(&fused);
  return several;
}

std::size_t count(const CanvasLevel& level) {
  return ofSeveralNodes(level).size();
}

/// All but the first of a fused node.
std::vector<NodeId> nodes(const CanvasLevel& level, std::size_t part) {
  std::vector<NodeId> rest = ofSeveralNodes(level)[part]->nodes;
  rest.erase(rest.begin());
  return rest;
}

CanvasItem item(const CanvasLevel& level, std::size_t part) {
  CanvasItem item;
  item.name = "rest of " + level.items.nameOf(ofSeveralNodes(level)[part]->name);
  item.key = "r:" + item.name;
  item.title = "rest";
  item.nodes = int(nodes(level, part).size());
  item.canOpen = true;
  return item;
}

}  // namespace

extern const ContainerKind kRestContainers{
    .name = "rest", .turnedKey = "closed_rests", .count = count, .nodes = nodes, .item = item};

}  // namespace fusescope
