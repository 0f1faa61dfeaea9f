// User input on the ribbon, and how it is painted.
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "ui/document/qt_text.h"
#include "ui/ribbon/ribbon.h"
#include "ui/ribbon/ribbon_words.h"

namespace fusescope {

namespace {

constexpr double kDragFrom = 4;      // pixels; a shorter movement is a click
constexpr double kWheelZoom = 1.25;  // the factor of one step of the wheel
constexpr int kRibbonMenuWidth = 24;

}  // namespace

void Ribbon::paintEvent(QPaintEvent*) {
  if (m_inViewStale) findInView();
  const Theme& theme = *m_look.theme;
  QPainter painter(this);
  painter.setRenderHint(QPainter::TextAntialiasing);
  painter.fillRect(rect(), theme.canvas);
  painter.fillRect(QRectF(axis().right(), 0, width() - axis().right(), height()), theme.window);
  painter.fillRect(QRect(0, height() - 1, width(), 1), theme.border);
  if (!picture().empty()) {
    m_look.focus = hasFocus();
    painter.save();
    painter.setClipRect(axis());
    RibbonPainter(painter, picture(), m_look, scale(), bands()).paint();
    painter.restore();
    paintTotals(painter);
  }
  if (!hasFocus()) return;
  painter.setPen(QPen(theme.accent, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

/// Paints the time of each lane and whose it is beside the lane, and the difference between two lanes between them.
void Ribbon::paintTotals(QPainter& painter) const {
  const Theme& theme = *m_look.theme;
  const double left = axis().right() + 6, room = width() - left - kRibbonMenuWidth;
  QFont strong = uiFont(9, QFont::DemiBold), small = uiFont(9);
  strong.setPixelSize(13);
  small.setPixelSize(ribbon::kTextPixels);
  const auto line = [&](double y, double height, const QFont& font, const QColor& color, const QString& text) {
    painter.setFont(font);
    painter.setPen(color);
    painter.drawText(QRectF(left, y, room, height), Qt::AlignVCenter | Qt::AlignLeft,
                     QFontMetricsF(font).elidedText(text, Qt::ElideRight, room));
  };
  const bool isAlone = picture().lanes.size() == 1;
  for (const RibbonBand& band : bands()) {
    if (band.kind == RibbonBand::Kind::Deltas) {
      const TotalDelta delta = deltaBelow(band.of);
      const QColor color = !delta.isSlower ? theme.dimText : *delta.isSlower ? theme.error : theme.success;
      if (!delta.text.isEmpty()) line(band.rect.top(), band.rect.height(), small, color, delta.text);
    }
    if (band.kind != RibbonBand::Kind::Lane) continue;
    const QStringList lines = laneText(band.of);
    const bool isOther = picture().lanes[band.of].ofOtherPlan;
    const double all = isAlone ? 18 + 13 * (lines.size() - 1) : 26;
    double y = isAlone ? std::max(2.0, (height() - all) / 2) : band.rect.center().y() - all / 2;
    const QColor ink = isOther ? theme.dimText : theme.text;
    if (isAlone) {
      line(y, 18, strong, ink, lines.value(0));
      y += 18;
      for (const QString& text : lines.mid(1)) {
        line(y, 12, small, theme.dimText, text);
        y += 13;
      }
      continue;
    }
    // If there are two lanes, each has room for two lines: its time, and whose it is or a remark about it.
    const QString run = qs(picture().lanes[band.of].run);
    line(y, 14, strong, ink, run.isEmpty() ? lines.value(0) : lines.value(0) + QStringLiteral(" · run ") + run);
    line(y + 14, 12, small, theme.dimText, lines.size() > 2 ? lines[2] : nameOfRun(picture().lanes[band.of]));
  }
}

void Ribbon::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_menu->setGeometry(width() - kRibbonMenuWidth, 0, kRibbonMenuWidth, height() - 1);
}

void Ribbon::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  window()->installEventFilter(this);
  fitHeight();
  m_source.setOnScreen(true);
}

void Ribbon::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  window()->removeEventFilter(this);
  m_source.setOnScreen(false);
}

bool Ribbon::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) fitHeight();
  return QWidget::eventFilter(watched, event);
}

void Ribbon::mousePressEvent(QMouseEvent* event) {
  const bool isMiddle = event->button() == Qt::MiddleButton;
  if ((event->button() != Qt::LeftButton && !isMiddle) || picture().empty() || !axis().contains(event->localPos()))
    return;
  m_pressAt = event->localPos();
  m_rangeAtPress = m_range;
  m_drag = isMiddle || (event->modifiers() & Qt::ShiftModifier) != 0 ? Drag::Pan : Drag::Undecided;
}

void Ribbon::mouseMoveEvent(QMouseEvent* event) {
  const double moved = event->localPos().x() - m_pressAt.x();
  if (m_drag == Drag::Undecided && std::abs(moved) > kDragFrom) m_drag = Drag::Brush;
  if (m_drag == Drag::Brush) {
    const auto place = [&](double x) { return std::clamp(scale().toPlace(x), m_range.from, m_range.to); };
    const auto [from, to] = std::minmax({place(m_pressAt.x()), place(event->localPos().x())});
    m_look.brush = {from, to};
  } else if (m_drag == Drag::Pan) {
    const double by = scale().pixels(-moved);
    setRange({m_rangeAtPress.from + by, m_rangeAtPress.to + by});
  }
  const auto hovered = m_drag == Drag::None ? spotAt(event->localPos()) : std::nullopt;
  if (m_drag == Drag::None && hovered == m_look.hovered) return;
  m_look.hovered = hovered;
  update();
}

void Ribbon::mouseReleaseEvent(QMouseEvent* event) {
  const Drag drag = std::exchange(m_drag, Drag::None);
  const RibbonRange brushed = std::exchange(m_look.brush, {});
  update();
  if (drag == Drag::Brush) return zoomTo(brushed);
  if (drag != Drag::Undecided) return;
  const auto spot = spotAt(event->localPos());
  if (!spot) return;
  m_look.current = spot;
  choose(*spot);
}

void Ribbon::mouseDoubleClickEvent(QMouseEvent* event) {
  m_drag = Drag::None;
  if (event->button() != Qt::LeftButton) return;
  const auto spot = spotAt(event->localPos());
  if (!spot) return zoomOut();
  zoomTo({barOf(*spot).begin, barOf(*spot).end});
}

void Ribbon::leaveEvent(QEvent* event) {
  QWidget::leaveEvent(event);
  m_look.hovered.reset();
  update();
}

void Ribbon::wheelEvent(QWheelEvent* event) {
  const QPoint turned = event->angleDelta();
  const bool pans = std::abs(turned.x()) > std::abs(turned.y()) || (event->modifiers() & Qt::ShiftModifier) != 0;
  if (pans) {
    pan(-(turned.x() != 0 ? turned.x() : turned.y()));
  } else {
    zoomAt(event->position().x(), std::pow(kWheelZoom, turned.y() / 120.0));
  }
  event->accept();
}

/// Selects the next bar in the row, or the bar above or below in the next row.
void Ribbon::walk(int key) {
  if (!m_look.current) {
    for (const RibbonBand& band : bands()) {
      if (band.kind != RibbonBand::Kind::Lane) continue;
      const RibbonRow& row = picture().layout.lanes[band.of];
      const std::size_t first = std::min(row.firstBehind(m_range.from), row.bars().size() - 1);
      return setCurrent({false, band.of, static_cast<std::uint32_t>(first)});
    }
    return;
  }
  RibbonSpot next = *m_look.current;
  if (key == Qt::Key_Up || key == Qt::Key_Down) return stepRow(key == Qt::Key_Up ? -1 : 1);
  if (key == Qt::Key_Left && next.bar > 0) --next.bar;
  if (key == Qt::Key_Right && next.bar + 1 < rowOf(next).bars().size()) ++next.bar;
  setCurrent(next);
}

void Ribbon::stepRow(int by) {
  std::vector<RibbonSpot> rows;
  int at = -1;
  for (const RibbonBand& band : bands()) {
    const bool above = band.kind == RibbonBand::Kind::Above;
    if (!above && band.kind != RibbonBand::Kind::Lane) continue;
    if (above == m_look.current->above && band.of == m_look.current->row) at = static_cast<int>(rows.size());
    rows.push_back({above, band.of, 0});
  }
  const RibbonBar& bar = barOf(*m_look.current);
  const double middle = std::clamp((bar.begin + bar.end) / 2, m_range.from, m_range.to);
  for (int to = at + by; to >= 0 && to < static_cast<int>(rows.size()); to += by) {
    RibbonSpot next = rows[static_cast<std::size_t>(to)];
    const int found = rowOf(next).barAt(middle);
    if (found < 0) continue;  // there is no block at this place
    next.bar = static_cast<std::uint32_t>(found);
    return setCurrent(next);
  }
}

void Ribbon::keyPressEvent(QKeyEvent* event) {
  if (picture().empty()) return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
      return walk(event->key());
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (m_look.current) activate(*m_look.current);
      return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoomAt(axis().center().x(), kWheelZoom);
    case Qt::Key_Minus:
      return zoomAt(axis().center().x(), 1 / kWheelZoom);
    case Qt::Key_Home:
      return zoomOut();
    case Qt::Key_Escape:
      if (isZoomed()) return zoomOut();
      break;
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

void Ribbon::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void Ribbon::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

void Ribbon::contextMenuEvent(QContextMenuEvent* event) {
  const auto spot = event->reason() == QContextMenuEvent::Keyboard ? m_look.current : spotAt(event->pos());
  if (spot) {
    m_look.current = spot;
    choose(*spot);
  }
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fillMenu(*menu);
  menu->popup(event->globalPos());
}

void Ribbon::fillMenu(QMenu& menu) {
  const auto widths = {std::pair(RibbonWidth::Time, tr("Width by &time")),
                       std::pair(RibbonWidth::Bytes, tr("Width by &bytes moved")),
                       std::pair(RibbonWidth::Even, tr("&Even widths"))};
  for (const auto& [width, text] : widths) {
    QAction* action = menu.addAction(text, this, [this, width = width] { setWidthBy(width); });
    action->setCheckable(true);
    action->setChecked(widthBy() == width);
  }
  menu.addSeparator();
  menu.addAction(tr("&Zoom out"), this, &Ribbon::zoomOut)->setEnabled(isZoomed());
  QAction* zoom = menu.addAction(tr("Zoom to the bar"), this, [this] {
    if (m_look.current) zoomTo({barOf(*m_look.current).begin, barOf(*m_look.current).end});
  });
  zoom->setEnabled(m_look.current.has_value());
  QAction* nodes = menu.addAction(tr("Selected &nodes…"), this, [this] { m_context.nodeMenu(QCursor::pos()); });
  nodes->setEnabled(!m_context.selection.nodes().empty() && m_context.nodeMenu != nullptr);
  menu.addSeparator();
  fillLaneMenu(*menu.addMenu(tr("&Lanes")));
  menu.addSeparator();
  menu.addAction(tr("&Hide the ribbon"), this, &Ribbon::hideRequested);
}

/// Fills a menu in which each run of the session can be made a lane. The two runs that are compared are always lanes,
/// which their entries say.
void Ribbon::fillLaneMenu(QMenu& menu) {
  menu.setToolTipsVisible(true);
  Runs& runs = m_context.runs;
  for (const Run& run : runs.all()) {
    if (!run.hasEngine()) continue;
    const bool isMain = &run == runs.shown() || &run == runs.comparedWith();
    const QString mark = &run == runs.shown() ? tr(" (B)") : isMain ? tr(" (A)") : QString();
    QAction* action = menu.addAction(captionText(Runs::title(run) + mark));
    action->setCheckable(true);
    action->setChecked(isMain || runs.isLane(run.id));
    connect(action, &QAction::triggered, this, [&runs, id = run.id](bool shown) { runs.setLane(id, shown); });
    const QString refusal = isMain ? tr("A and B always have their lanes.") : runs.laneRefusal(run);
    action->setEnabled(refusal.isEmpty());
    action->setToolTip(tipText(refusal));
  }
  if (menu.isEmpty()) menu.addAction(tr("There is no run yet"))->setEnabled(false);
}

QString Ribbon::tooltipAt(const QPointF& position) const {
  if (picture().empty()) return {};
  const double least = scale().pixels(ribbon::kLeastSeen);
  for (const RibbonBand& band : bands()) {
    if (position.y() < band.rect.top() || position.y() >= band.rect.bottom()) continue;
    const bool isBeside = position.x() >= axis().right();
    if (isBeside && band.kind == RibbonBand::Kind::Lane)
      return laneTotal(picture(), band.of).tooltip +
             (m_source.problem().isEmpty() ? QString() : QStringLiteral("\n") + m_source.problem());
    if (isBeside && band.kind == RibbonBand::Kind::Deltas) return deltaBelow(band.of).tooltip;
    if (isBeside) continue;
    if (band.kind == RibbonBand::Kind::Progress) return m_look.progress.words;
    if (band.kind == RibbonBand::Kind::InView) return tr("What the canvas shows");
    if (band.kind == RibbonBand::Kind::Differences || band.kind == RibbonBand::Kind::Deltas) {
      const auto& begins = picture().layout.groupBegin;
      const auto group = std::ranges::upper_bound(begins, scale().toPlace(position.x())) - begins.begin() - 1;
      if (group < 0 || group >= static_cast<std::ptrdiff_t>(picture().layout.groups.size())) return {};
      return differenceTooltip(picture(), band.of, static_cast<std::uint32_t>(group));
    }
    const auto spot =
        band.kind == RibbonBand::Kind::Errors ? spotAt(QPointF(position.x(), band.rect.top() - 2)) : spotAt(position);
    if (!spot) return {};
    if (spot->above || barOf(*spot).width() >= least) return barTooltip(picture(), rowOf(*spot), barOf(*spot));
    const RibbonRow& row = rowOf(*spot);
    for (const BarStretch& stretch : row.stretches(m_range.from, m_range.to, least, nullptr))
      if (stretch.first <= spot->bar && spot->bar < stretch.last && stretch.last - stretch.first > 1)
        return barTooltip(picture(), row, barOf(*spot)) + QStringLiteral("\n\n") +
               gatheredTooltip(picture(), spot->row, stretch.first, stretch.last);
    return barTooltip(picture(), row, barOf(*spot));
  }
  return {};
}

bool Ribbon::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const QString text = tooltipAt(help->pos());
  if (text.isEmpty()) {
    QToolTip::hideText();
    event->ignore();
  } else {
    QToolTip::showText(help->globalPos(), tipText(text), this);
  }
  return true;
}

QStringList Ribbon::keyHelp() {
  const QString dash = QStringLiteral(" \u2014 ");
  return {tr("Ribbon: drag, wheel, +, -") + dash + tr("zoom its axis"),
          tr("Ribbon: Shift+drag, Shift+wheel") + dash + tr("scroll its axis"),
          tr("Ribbon: click, Return") + dash + tr("select a kernel, zoom to a block"),
          tr("Ribbon: arrow keys") + dash + tr("walk by bar and by row"),
          tr("Ribbon: Home, Esc") + dash + tr("all of it again")};
}

}  // namespace fusescope
