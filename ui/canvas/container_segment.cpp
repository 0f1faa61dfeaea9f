#include "ui/canvas/level_parts.h"
#include "ui/document/qt_text.h"
#include "ui/document/target_words.h"

namespace fusescope {

namespace segment_container {
namespace {

/// Segments are containers in the network, not in bodies.
std::size_t count(const LevelParts& level) {
  return level.items.path().isNetwork() ? level.cover.segments.size() : 0;
}

void nodes(const LevelParts& level, std::size_t part, std::vector<NodeId>& nodes) {
  nodes = level.cover.segments[part].nodes;
}

CanvasItem item(const LevelParts& level, std::size_t part) {
  const Segment& segment = level.cover.segments[part];
  CanvasItem item;
  item.name = level.items.nameOf(segment.name);
  item.key = "s:" + item.name;
  item.title = QString::fromStdString(segment.name);
  item.segment = int(part);
  item.fallback = segment.kind == SegmentKind::Fallback;
  item.kindName = item.fallback ? "fallback" : "accelerated";
  item.detail = runsOn(level.cover, segment) + QStringLiteral(" \u00b7 ") + item.kindName;
  item.meta = plural(std::int64_t(segment.nodes.size()), "node");
  item.nodes = int(segment.nodes.size());
  item.canOpen = true;
  return item;
}

}  // namespace
}  // namespace segment_container

extern const ContainerKind kSegmentContainers{.name = "segment",
                                              .turnedKey = "closed_segments",
                                              .opensForContent = true,
                                              .count = segment_container::count,
                                              .nodes = segment_container::nodes,
                                              .item = segment_container::item};

}  // namespace fusescope
