#include "ui/canvas/level_parts.h"

namespace fusescope {

namespace body_container {
namespace {

std::size_t count(const LevelParts& level) {
  return level.cover.bodies.size();
}

/// A body represents the node that contains it.
void nodes(const LevelParts& level, std::size_t part, std::vector<NodeId>& nodes) {
  nodes = {level.cover.bodies[part].holder};
}

CanvasItem item(const LevelParts& level, std::size_t part) {
  return level.items.body(level.cover.bodies[part]);
}

const CoverBody* body(const LevelParts& level, std::size_t part) {
  return &level.cover.bodies[part];
}

}  // namespace
}  // namespace body_container

extern const ContainerKind kBodyContainers{.name = "body",
                                           .turnedKey = {},
                                           .count = body_container::count,
                                           .nodes = body_container::nodes,
                                           .item = body_container::item,
                                           .body = body_container::body};

}  // namespace fusescope
