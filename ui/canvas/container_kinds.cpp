#include "ui/canvas/container_kinds.h"

namespace fusescope {

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
