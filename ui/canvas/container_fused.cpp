#include "ui/canvas/level_parts.h"

namespace fusescope {

namespace fused_container {
namespace {

std::size_t count(const LevelParts& level) {
  return level.cover.fusedNodes.size();
}

void nodes(const LevelParts& level, std::size_t part, std::vector<NodeId>& nodes) {
  level.drawnIn(part, nodes);
}

/// A kernel of several nodes, or one that contains bodies, can be opened.
CanvasItem item(const LevelParts& level, std::size_t part) {
  const FusedNode& fused = level.cover.fusedNodes[part];
  std::vector<NodeId> drawn;
  level.drawnIn(part, drawn);
  return level.items.fused(fused, level.nameOf(fused), level.handles[part], drawn.size());
}

}  // namespace
}  // namespace fused_container

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
                                            .count = fused_container::count,
                                            .nodes = fused_container::nodes,
                                            .item = fused_container::item};

const ContainerKind& fusedContainers() {
  return kFusedContainers;
}

}  // namespace fusescope
