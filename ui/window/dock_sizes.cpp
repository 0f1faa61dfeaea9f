#include "ui/window/dock_sizes.h"

#include <QEvent>
#include <QGuiApplication>
#include <algorithm>

namespace fusescope {

namespace {

constexpr double kMostDragged = 0.6;  ///< of the window, of a size that was dragged when the window was larger

}  // namespace

DockSizes::DockSizes(QMainWindow& window, const QList<QDockWidget*>& docks)
    : QObject(&window),
      m_window(window),
      m_docks(docks),
      m_sides{{Qt::LeftDockWidgetArea, 0.20, 232, 350},
              {Qt::RightDockWidgetArea, 0.22, 210, 400},
              {Qt::BottomDockWidgetArea, 0.30, 150, 420}} {
  window.installEventFilter(this);
  for (QDockWidget* dock : m_docks) dock->installEventFilter(this);
}

QDockWidget* DockSizes::shownIn(Qt::DockWidgetArea area) const {
  const auto found = std::ranges::find_if(m_docks, [&](QDockWidget* dock) {
    return !dock->isHidden() && !dock->isFloating() && m_window.dockWidgetArea(dock) == area;
  });
  return found == m_docks.end() ? nullptr : *found;
}

void DockSizes::reset() {
  for (Side& side : m_sides) side.dragged = 0;
}

int DockSizes::wanted(const Side& side) const {
  const int room = side.orientation() == Qt::Horizontal ? m_window.width() : m_window.height();
  if (side.dragged > 0) return std::min(side.dragged, static_cast<int>(room * kMostDragged));
  return std::clamp(static_cast<int>(room * side.share), side.least, side.most);
}

void DockSizes::fit() {
  m_fitting = true;
  for (const Side& side : m_sides) {
    if (QDockWidget* dock = shownIn(side.area)) m_window.resizeDocks({dock}, {wanted(side)}, side.orientation());
  }
  m_fitting = false;
}

bool DockSizes::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::Resize) return false;
  if (watched == &m_window) {
    // After the window's own layout has taken the new size.
    QMetaObject::invokeMethod(this, &DockSizes::fit, Qt::QueuedConnection);
    return false;
  }
  // Nothing but a separator that is dragged resizes a dock while a button is down.
  if (m_fitting || !(QGuiApplication::mouseButtons() & Qt::LeftButton)) return false;
  auto* dock = static_cast<QDockWidget*>(watched);
  for (Side& side : m_sides) {
    if (!dock->isFloating() && m_window.dockWidgetArea(dock) == side.area)
      side.dragged = side.orientation() == Qt::Horizontal ? dock->width() : dock->height();
  }
  return false;
}

}  // namespace fusescope
