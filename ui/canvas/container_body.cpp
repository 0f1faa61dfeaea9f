#include "ui/canvas/canvas_level.h"

namespace fusescope {

namespace {

std::size_t count(const CanvasLevel& level) {
  return level.cover.bodies.size();
}

/// It stands for the node that holds it.
std::vector<NodeId> nodes(const CanvasLevel& level, std::size_t part) {
  return {level.cover.bodies[part].holder};
}

CanvasItem item(const CanvasLevel& level, std::size_t part) {
  return level.items.body(level.cover.bodies[part]);
}

const CoverBody* body(const CanvasLevel& level, std::size_t part) {
  return &level.cover.bodies[part];
}

}  // namespace

extern const ContainerKind kBodyContainers{
    .name = "body", .turnedKey = {}, .count = count, .nodes = nodes, .item = item, .body = body};

}  // namespace fusescope
