#include "ui/canvas/container_kinds.h"

#include "planning/read_back_plan.h"
#include "ui/canvas/canvas_scene.h"

namespace fusescope {

bool CanvasItem::calculates() const {
  return container == nullptr || container->calculates;
}

bool CanvasItem::isUncertain() const {
  return certainty && *certainty >= Certainty::Derived;
}

bool CanvasItem::isGuessed() const {
  return certainty == Certainty::Guessed;
}

const QString& CanvasItem::handle() const {
  return container != nullptr && container->knownByKey ? key : name;
}

bool OpenState::isOpen(const ContainerKind& kind, const QString& handle) const {
  const auto turned = m_turned.find(kind.name);
  return kind.openAtFirst != (turned != m_turned.end() && turned->second.contains(handle));
}

void OpenState::set(const ContainerKind& kind, const QString& handle, bool open) {
  QSet<QString>& handles = m_turned[kind.name];
  if (open == kind.openAtFirst) {
    handles.remove(handle);
  } else {
    handles.insert(handle);
  }
  if (handles.isEmpty()) m_turned.erase(kind.name);
}

QSet<QString> OpenState::turned(const ContainerKind& kind) const {
  const auto turned = m_turned.find(kind.name);
  return turned == m_turned.end() ? QSet<QString>() : turned->second;
}

void OpenState::setTurned(const ContainerKind& kind, const QSet<QString>& handles) {
  if (handles.isEmpty()) {
    m_turned.erase(kind.name);
  } else {
    m_turned[kind.name] = handles;
  }
}

}  // namespace fusescope
