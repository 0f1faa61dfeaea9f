#include "ui/window/dock_tabs.h"

#include <QKeyEvent>
#include <QPainter>

namespace fusescope {

namespace {

constexpr int kBesideTitle = 10, kBeforeMark = 7, kTabLine = 2;

QColor markColor(DockMark::Kind kind, const Theme& theme) {
  switch (kind) {
    case DockMark::Kind::Done:
      return theme.success;
    case DockMark::Kind::Failed:
      return theme.error;
    default:
      return theme.warning;
  }
}

}  // namespace

DockTabs::DockTabs(std::function<const Theme&()> theme) : m_theme(std::move(theme)) {
  setDrawBase(false);
  setExpanding(false);
  setElideMode(Qt::ElideNone);
}

void DockTabs::setOpen(bool open) {
  m_open = open;
  update();
}

void DockTabs::setMark(int tab, const DockMark& mark) {
  if (m_marks[tab].text == mark.text && m_marks[tab].kind == mark.kind) return;
  m_marks[tab] = mark;
  setAccessibleTabName(tab, mark.text.isEmpty() ? QString() : tabText(tab) + QStringLiteral(", ") + mark.text);
  setTabText(tab, tabText(tab));  // so that Qt computes the length of the tab again
  update();
}

void DockTabs::tabInserted(int tab) {
  m_marks.insert(tab, DockMark());
  QTabBar::tabInserted(tab);
}

QSize DockTabs::tabSizeHint(int tab) const {
  const auto width = [this](const QString& text) { return fontMetrics().horizontalAdvance(text); };
  const QString mark = m_marks.value(tab).text;
  const int length = 2 * kBesideTitle + width(tabText(tab)) + (mark.isEmpty() ? 0 : kBeforeMark + width(mark));
  return isVertical() ? QSize(kThickness, length) : QSize(length, kThickness);
}

void DockTabs::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  for (int tab = 0; tab < count(); ++tab) paintTab(painter, tab);
}

void DockTabs::paintTab(QPainter& painter, int tab) const {
  const Theme& theme = m_theme();
  const bool current = tab == currentIndex();
  const bool hovered = underMouse() && tabAt(mapFromGlobal(QCursor::pos())) == tab;
  QRect place = tabRect(tab);
  painter.save();
  if (isVertical()) {  // the text runs upwards on the left and downwards on the right
    painter.translate(place.center());
    painter.rotate(shape() == RoundedWest ? -90 : 90);
    place = QRect(-place.height() / 2, -place.width() / 2, place.height(), place.width());
  }
  if (current && m_open)
    painter.fillRect(
        QRect(place.left(), m_above ? place.top() : place.bottom() + 1 - kTabLine, place.width(), kTabLine),
        theme.text);
  if (current && hasFocus()) {
    painter.setPen(theme.accent);
    painter.drawRect(place.adjusted(1, 1, -2, -2));
  }
  QRect text = place.adjusted(kBesideTitle, 0, -kBesideTitle, 0);
  painter.setPen((current && m_open) || hovered ? theme.text : theme.dimText);
  painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter, tabText(tab));
  painter.setPen(markColor(m_marks[tab].kind, theme));
  painter.drawText(text, Qt::AlignRight | Qt::AlignVCenter, m_marks[tab].text);
  painter.restore();
}

void DockTabs::mousePressEvent(QMouseEvent* event) {
  const int tab = tabAt(event->pos());
  if (event->button() != Qt::LeftButton || tab < 0) return event->ignore();
  emit chosen(tab);
}

void DockTabs::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      emit chosen(currentIndex());
      return;
    case Qt::Key_Up:
    case Qt::Key_Down:
      if (!isVertical()) break;
      return setCurrentIndex(qBound(0, currentIndex() + (event->key() == Qt::Key_Down ? 1 : -1), count() - 1));
    default:
      break;
  }
  QTabBar::keyPressEvent(event);
}

}  // namespace fusescope
