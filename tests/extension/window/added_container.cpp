#include "ui/canvas/level_parts.h"

namespace fusescope {

namespace {

std::vector<const FusedNode*> ofSeveralNodes(const LevelParts& level) {
  std::vector<const FusedNode*> several;
  for (const FusedNode& fused : level.cover.fusedNodes)
    if (fused.nodes.size() > 1) several.push_back(&fused);
  return several;
}

std::size_t count(const LevelParts& level) {
  return ofSeveralNodes(level).size();
}

/// All but the first of a fused node.
void nodes(const LevelParts& level, std::size_t part, std::vector<NodeId>& nodes) {
  nodes = ofSeveralNodes(level)[part]->nodes;
  nodes.erase(nodes.begin());
}

CanvasItem item(const LevelParts& level, std::size_t part) {
  CanvasItem item;
  item.name = "rest of " + level.items.nameOf(ofSeveralNodes(level)[part]->name);
  item.key = "r:" + item.name;
  item.title = "rest";
  item.nodes = int(ofSeveralNodes(level)[part]->nodes.size()) - 1;
  item.canOpen = true;
  return item;
}

}  // namespace

extern const ContainerKind kRestContainers{
    .name = "rest", .turnedKey = "closed_rests", .count = count, .nodes = nodes, .item = item};

}  // namespace fusescope
