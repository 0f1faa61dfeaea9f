#include "ui/docks/dock.h"

#include <utility>

#include "ui/document/qt_text.h"

namespace fusescope {

void Dock::refresh(Parts parts) {
  m_stale |= parts;
  look();
}

void Dock::look() {
  if (m_stale == 0 || m_willLook || !isVisible()) return;
  m_willLook = true;
  QMetaObject::invokeMethod(
      this,
      [this] {
        m_willLook = false;
        m_looking = true;
        if (isVisible()) catchUp();
        m_looking = false;
      },
      Qt::QueuedConnection);
}

void Dock::catchUp() {
  const Parts parts = std::exchange(m_stale, 0U) | (m_looking ? 0U : m_underWay);
  if (parts != 0) renew(parts);
}

void Dock::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  look();
}

const Run* Dock::shownRun(const QString& id) const {
  const Run* shown = m_context.runs.shown();
  return shown != nullptr && qs(shown->id) == id ? shown : nullptr;
}

}  // namespace fusescope
