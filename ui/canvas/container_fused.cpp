#include "ui/canvas/canvas_level.h"

namespace fusescope {

namespace {

std::size_t count(const CanvasLevel& level) {
  return level.cover.fusedNodes.size();
}

/// Those that are drawn in it: each node is drawn once, in the first kernel that holds it.
std::vector<NodeId> nodes(const CanvasLevel& level, std::size_t part) {
  std::vector<NodeId> drawn = level.cover.fusedNodes[part].nodes;
  std::erase_if(drawn, [&](NodeId node) {
    return !level.graph().has(node) || level.fusedOfNode[node.index] != static_cast<int>(part);
  });
  return drawn;
}

QString nameOf(const CanvasLevel& level, const FusedNode& fused) {
  const bool rootNames = level.graph().has(fused.root) && level.graph().node(fused.root).name == fused.name;
  return rootNames ? level.names[fused.root.index] : level.items.nameOf(fused.name);
}

/// One of several nodes can be opened, and one that holds bodies.
CanvasItem item(const CanvasLevel& level, std::size_t part) {
  const FusedNode& fused = level.cover.fusedNodes[part];
  return level.items.fused(fused, nameOf(level, fused), level.handles[part], nodes(level, part).size());
}

CanvasItem brief(const CanvasLevel& level, std::size_t part) {
  const FusedNode& fused = level.cover.fusedNodes[part];
  CanvasItem item;
  item.name = nameOf(level, fused);
  item.key = level.handles[part];
  item.canOpen = nodes(level, part).size() > 1 || holdsBodies(level.cover, fused);
  return item;
}

}  // namespace

extern const ContainerKind kFusedContainers{.name = "fused node",
                                            .turnedKey = "open",
                                            .openAtFirst = false,
                                            .knownByKey = true,
                                            .calculates = true,
                                            .look = {.header = metrics::kFusedHeader,
                                                     .oneLine = false,
                                                     .titleFromAfar = false,
                                                     .dashedInFallback = false,
                                                     .tint = 0.09,
                                                     .frame = 0.55},
                                            .count = count,
                                            .nodes = nodes,
                                            .item = item,
                                            .brief = brief};

const ContainerKind& fusedContainers() {
  return kFusedContainers;
}

}  // namespace fusescope
