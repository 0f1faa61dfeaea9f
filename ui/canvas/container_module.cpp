#include "ui/canvas/block_item.h"

namespace fusescope {

namespace {

std::size_t count(const CanvasLevel& level) {
  return level.blocks.all().size();
}

std::vector<NodeId> nodes(const CanvasLevel& level, std::size_t part) {
  return level.blocks.all()[part].nodes;
}

CanvasItem brief(const CanvasLevel& level, std::size_t part) {
  CanvasItem item;
  item.key = level.blockHandles[part];
  item.canOpen = true;
  return item;
}

}  // namespace

extern const ContainerKind kModuleContainers{.name = "block",
                                             .turnedKey = "open_blocks",
                                             .openAtFirst = false,
                                             .knownByKey = true,
                                             .nests = true,
                                             .opensForContent = true,
                                             .calculates = true,
                                             .look = {.header = metrics::kFusedHeader,
                                                      .oneLine = false,
                                                      .titleFromAfar = true,
                                                      .dashedInFallback = false,
                                                      .tint = 0.05,
                                                      .frame = 0.4},
                                             .count = count,
                                             .nodes = nodes,
                                             .item = blockItem,
                                             .brief = brief};

const ContainerKind& moduleContainers() {
  return kModuleContainers;
}

}  // namespace fusescope
