#include "ui/canvas/block_item.h"
#include "ui/canvas/level_parts.h"

namespace fusescope {

namespace module_container {
namespace {

std::size_t count(const LevelParts& level) {
  return level.blocks.all().size();
}

void nodes(const LevelParts& level, std::size_t part, std::vector<NodeId>& nodes) {
  nodes = level.blocks.all()[part].nodes;
}

CanvasItem item(const LevelParts& level, std::size_t part) {
  return blockItem(level, part);
}

}  // namespace
}  // namespace module_container

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
                                             .count = module_container::count,
                                             .nodes = module_container::nodes,
                                             .item = module_container::item};

const ContainerKind& moduleContainers() {
  return kModuleContainers;
}

}  // namespace fusescope
