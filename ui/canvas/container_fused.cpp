#include "ui/canvas/canvas_level.h"

namespace fusescope {

namespace {

std::size_t count(const CanvasLevel& level) {
  return level.plan.fusedNodes.size();
}

std::vector<NodeId> nodes(const CanvasLevel& level, std::size_t part) {
  return level.plan.fusedNodes[part].nodes;
}

/// One of several nodes can be opened, and one that holds bodies.
CanvasItem item(const CanvasLevel& level, std::size_t part) {
  const FusedNode& fused = level.plan.fusedNodes[part];
  const bool rootNames = level.graph().has(fused.root) && level.graph().node(fused.root).name == fused.name;
  return level.items.fused(fused, rootNames ? level.names[fused.root.index] : level.items.nameOf(fused.name),
                           level.handles[part]);
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
                                            .item = item};

const ContainerKind& fusedContainers() {
  return kFusedContainers;
}

}  // namespace fusescope
