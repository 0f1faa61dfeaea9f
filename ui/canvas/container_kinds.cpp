#include "ui/canvas/container_kinds.h"

#include "ui/canvas/canvas_metrics.h"

namespace fusescope {

namespace {

/// Holds what calculates, and says so in one line.
ContainerKind part(ItemKind item, std::string_view turnedKey) {
  return {.item = item,
          .turnedKey = turnedKey,
          .openAtFirst = true,
          .knownByKey = false,
          .calculates = false,
          .header = metrics::kSegmentHeader,
          .oneLine = true,
          .titleFromAfar = true,
          .dashedInFallback = true,
          .tint = 0,
          .frame = 0.25};
}

}  // namespace

const std::vector<ContainerKind>& containerKinds() {
  static const std::vector<ContainerKind> kKinds{part(ItemKind::Segment, "closed_segments"),
                                                 {.item = ItemKind::Fused,
                                                  .turnedKey = "open",
                                                  .openAtFirst = false,
                                                  .knownByKey = true,
                                                  .calculates = true,
                                                  .header = metrics::kFusedHeader,
                                                  .oneLine = false,
                                                  .titleFromAfar = false,
                                                  .dashedInFallback = false,
                                                  .tint = 0.09,
                                                  .frame = 0.55},
                                                 part(ItemKind::Body, {})};
  return kKinds;
}

const ContainerKind* containerKind(ItemKind item) {
  for (const ContainerKind& kind : containerKinds())
    if (kind.item == item) return &kind;
  return nullptr;
}

bool CanvasItem::calculates() const {
  const ContainerKind* container = containerKind(kind);
  return container == nullptr || container->calculates;
}

const QString& CanvasItem::handle() const {
  const ContainerKind* container = containerKind(kind);
  return container != nullptr && container->knownByKey ? key : name;
}

bool OpenState::isOpen(ItemKind kind, const QString& handle) const {
  const auto turned = m_turned.find(kind);
  return containerKind(kind)->openAtFirst != (turned != m_turned.end() && turned->second.contains(handle));
}

void OpenState::set(ItemKind kind, const QString& handle, bool open) {
  QSet<QString> handles = turned(kind);
  if (open == containerKind(kind)->openAtFirst) {
    handles.remove(handle);
  } else {
    handles.insert(handle);
  }
  setTurned(kind, handles);
}

QSet<QString> OpenState::turned(ItemKind kind) const {
  const auto turned = m_turned.find(kind);
  return turned == m_turned.end() ? QSet<QString>() : turned->second;
}

void OpenState::setTurned(ItemKind kind, const QSet<QString>& handles) {
  if (handles.isEmpty()) {
    m_turned.erase(kind);
  } else {
    m_turned[kind] = handles;
  }
}

}  // namespace fusescope
