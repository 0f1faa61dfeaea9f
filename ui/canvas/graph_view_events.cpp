#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "ui/canvas/canvas_metrics.h"
#include "ui/canvas/canvas_painter.h"
#include "ui/canvas/graph_view.h"
#include "ui/canvas/graph_view_state.h"

namespace fusescope {
namespace {

constexpr double kPixelsPerNotch = 60;  // pixels for each notch of the wheel
constexpr double kDotsEvery = 28;

// Paints a grid that makes panning visible. It is left out at a small zoom, where it would be too dense.
void paintDots(QPainter& painter, const QRectF& visible, double zoom, const Theme& theme) {
  if (zoom < 0.45) return;
  QVector<QPointF> dots;
  const double left = std::floor(visible.left() / kDotsEvery) * kDotsEvery;
  const double top = std::floor(visible.top() / kDotsEvery) * kDotsEvery;
  for (double y = top; y < visible.bottom(); y += kDotsEvery) {
    for (double x = left; x < visible.right(); x += kDotsEvery) dots << QPointF(x, y);
  }
  painter.setPen(QPen(theme.canvasDots, 1.6 / zoom, Qt::SolidLine, Qt::RoundCap));
  painter.drawPoints(dots.constData(), dots.size());
}

}  // namespace

CanvasLook GraphViewState::look() {
  CanvasLook look;
  look.theme = &theme;
  look.colors = &colors;
  look.selected = &selected;
  look.matches = query.isEmpty() ? nullptr : &matches;
  look.only = only.isEmpty() ? nullptr : &onlyKeys;
  look.failing = failingItem;
  look.current = current();
  look.hovered = hovered;
  look.focus = q->hasFocus();
  look.overlay = overlay.get();
  look.from = from.empty() ? nullptr : &from;
  look.progress = progress;
  return look;
}

void GraphView::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), m->theme.canvas);
  const QRectF visible(m->toScene(event->rect().topLeft()), QSizeF(event->rect().size()) / m->camera.zoom);
  painter.save();
  painter.scale(m->camera.zoom, m->camera.zoom);
  painter.translate(-m->camera.origin);
  paintDots(painter, visible, m->camera.zoom, m->theme);
  paintCanvas(painter, *m->scene, m->look(), visible.adjusted(-4, -12, 4, 12), m->camera.zoom);
  painter.restore();
  if (hasFocus()) {
    painter.setPen(QPen(m->theme.accent, 1));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void GraphView::resizeEvent(QResizeEvent* event) {
  if (event->oldSize().isValid()) m->resized(event->oldSize());
  m->placeOverlays();
  m->minimap->setVisiblePart(m->visibleScene());
}

void GraphView::wheelEvent(QWheelEvent* event) {
  QPointF delta = event->pixelDelta();
  if (delta.isNull()) delta = QPointF(event->angleDelta()) / 120.0 * kPixelsPerNotch;
  if (event->modifiers() & Qt::ControlModifier) {
    m->zoomAt(event->position(), std::pow(1.0018, delta.y() * 2));
  } else {
    if (event->modifiers() & Qt::ShiftModifier) delta = QPointF(delta.y(), delta.x());
    m->camera.origin -= delta / m->camera.zoom;
    m->moved();
  }
  event->accept();
}

void GraphView::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  m->pressAt = event->pos();
  m->originAtPress = m->camera.origin;
  m->drag = GraphViewState::Drag::None;
  if (event->button() == Qt::MiddleButton) m->drag = GraphViewState::Drag::Pan;
  if (event->button() == Qt::LeftButton) m->drag = GraphViewState::Drag::Undecided;
}

void GraphView::mouseMoveEvent(QMouseEvent* event) {
  using Drag = GraphViewState::Drag;
  if (m->drag == Drag::Undecided &&
      (event->pos() - m->pressAt).manhattanLength() >= QApplication::startDragDistance()) {
    const bool several = event->modifiers() & Qt::ShiftModifier;
    m->drag = several ? Drag::Band : Drag::Pan;
    if (several) m->band->show();
    if (!several) setCursor(Qt::ClosedHandCursor);
  }
  if (m->drag == Drag::Pan) {
    m->camera.origin = m->originAtPress - QPointF(event->pos() - m->pressAt) / m->camera.zoom;
    return m->moved();
  }
  if (m->drag == Drag::Band) {
    m->band->setGeometry(QRect(m->pressAt, event->pos()).normalized());
    return;
  }
  const int item = m->scene->itemAt(m->toScene(event->localPos()));
  if (item == m->hovered) return;
  m->hovered = item;
  update();
  emit hovered(item < 0 ? QString() : m->scene->items[std::size_t(item)].name);
}

void GraphView::mouseReleaseEvent(QMouseEvent* event) {
  using Drag = GraphViewState::Drag;
  const Drag drag = std::exchange(m->drag, Drag::None);
  unsetCursor();
  if (event->button() != Qt::LeftButton) return;
  if (drag == Drag::Band) {
    m->band->hide();
    const QRectF area(m->toScene(m->band->geometry().topLeft()), QSizeF(m->band->geometry().size()) / m->camera.zoom);
    for (const int i : m->scene->itemIndex.meeting(area)) {
      const CanvasItem& item = m->scene->items[std::size_t(i)];
      if (item.isBox() && area.intersects(m->scene->rects[std::size_t(i)]) && !m->selection.contains(item.handle()))
        m->selection << item.handle();
    }
    m->resolveSelection();
    m->changed(true);
  } else if (drag == Drag::Undecided) {
    const bool add = event->modifiers() & (Qt::ControlModifier | Qt::ShiftModifier);
    const int item = m->scene->itemAt(m->toScene(event->localPos()));
    if (item >= 0) {
      m->choose(item, add);
    } else if (!add && !m->selection.isEmpty()) {
      m->selection.clear();
      m->currentName.clear();
      m->resolveSelection();
      m->changed(true);
    }
  }
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const int index = m->scene->itemAt(m->toScene(event->localPos()));
  if (index < 0) return;
  const CanvasItem item = m->scene->items[std::size_t(index)];
  if (!item.canOpen) {
    emit nodeActivated(item.name);
    return;
  }
  m->anchorKey = item.key;
  const QStringList below = m->scene->openableInside(item.handle());
  if (!(event->modifiers() & Qt::AltModifier) || below.isEmpty()) return toggle(item.handle());
  const auto kindOf = [&](const QString& handle) -> const ContainerKind& { return *m->scene->container(handle)->kind; };
  const bool open = std::any_of(below.begin(), below.end(),
                                [&](const QString& handle) { return !m->open.isOpen(kindOf(handle), handle); });
  for (const QString& handle : below) m->open.set(kindOf(handle), handle, open);
  m->open.set(*item.container, item.handle(), true);
  m->request();
}

void GraphView::contextMenuEvent(QContextMenuEvent* event) {
  QPoint at = event->globalPos();
  if (event->reason() == QContextMenuEvent::Mouse) {
    const int item = m->scene->itemAt(m->toScene(event->pos()));
    if (item >= 0 && !m->selected.contains(item)) m->choose(item, false);
  } else if (m->current() >= 0) {
    at = mapToGlobal(m->toView(m->scene->rects[std::size_t(m->current())]).center().toPoint());
  }
  emit contextMenuRequested(m->selection, at);
}

void GraphView::keyPressEvent(QKeyEvent* event) {
  const bool shift = event->modifiers() & Qt::ShiftModifier;
  if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier))
    return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Space:
      return fit();
    case Qt::Key_F:
      return centreSelection();
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoomIn();
    case Qt::Key_Minus:
      return zoomOut();
    case Qt::Key_BracketRight:
      return nextMatch();
    case Qt::Key_BracketLeft:
      return previousMatch();
    case Qt::Key_Left:
    case Qt::Key_Right:
      if (shift && m->current() >= 0) {
        const int beside = m->sibling(m->current(), event->key() == Qt::Key_Right);
        m->choose(beside, false);
        if (beside >= 0) m->reveal(m->scene->rects[std::size_t(beside)]);
        return;
      }
      return m->walk(event->key());
    case Qt::Key_Up:
    case Qt::Key_Down:
      return m->walk(event->key());
    case Qt::Key_Escape: {
      const bool had = !m->selection.isEmpty();
      if (!had && m->query.isEmpty() && m->only.isEmpty()) return QWidget::keyPressEvent(event);
      showOnly({});
      search({});
      emit searchCleared();
      m->selection.clear();
      m->currentName.clear();
      m->resolveSelection();
      if (had) m->changed(true);
      return;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter: {
      const int item = m->current();
      if (item < 0) return;
      const CanvasItem& it = m->scene->items[std::size_t(item)];
      if (it.canOpen) return toggle(it.handle());
      emit nodeActivated(it.name);
      return;
    }
    default:
      return QWidget::keyPressEvent(event);
  }
}

bool GraphView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = m->tooltipAt(help->pos());
    if (text.isEmpty()) {
      QToolTip::hideText();
      event->ignore();
    } else {
      QToolTip::showText(help->globalPos(), text, this);
    }
    return true;
  }
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  return QWidget::event(event);
}

}  // namespace fusescope
