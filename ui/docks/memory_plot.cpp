#include "ui/docks/memory_plot.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr double kAxisWidth = 72, kLabelsBelow = 20, kRoomAbove = 20;
/// The most pieces that are named in the tool tip of a step.
constexpr std::size_t kMostPiecesSaid = 6;

}  // namespace

MemoryPlot::MemoryPlot(std::function<const Theme&()> theme, QWidget* parent)
    : QWidget(parent), m_theme(std::move(theme)) {
  setAccessibleName(QStringLiteral("Memory over time"));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
}

void MemoryPlot::setMemory(const SharedOptional<MemoryTimeline>& memory) {
  m_memory = memory;
  m_usedBytes = memory ? std::as_const(memory)->usedBytes() : std::vector<std::int64_t>();
  m_peak = peakOf(m_usedBytes);
  m_current = m_usedBytes.empty() ? -1 : static_cast<int>(m_peak);
  m_hovered = -1;
  m_marked.clear();
  describe();
  update();
}

void MemoryPlot::setCurrent(int step) {
  m_current = step >= 0 && step < count() ? step : -1;
  describe();
  update();
}

void MemoryPlot::setMarked(std::set<int> steps) {
  m_marked = std::move(steps);
  update();
}

void MemoryPlot::describe() {
  if (m_usedBytes.empty()) return setAccessibleDescription(QStringLiteral("Nothing is known about it"));
  const QString peak = QStringLiteral("The peak is %1, at step %2 of %3.")
                           .arg(bytesText(m_usedBytes[m_peak]))
                           .arg(static_cast<qulonglong>(m_peak))
                           .arg(count());
  setAccessibleDescription(m_current < 0 ? peak : peak + QLatin1Char(' ') + wordsOf(m_current));
}

QString MemoryPlot::wordsOf(int step) const {
  const MemoryTimeline& memory = *std::as_const(m_memory);
  const auto at = static_cast<std::size_t>(step);
  QString text =
      QStringLiteral("Step %1, %2: %3 in use").arg(step).arg(qs(memory.steps[at].name), bytesText(m_usedBytes[at]));
  const auto pieces = memory.at(at);
  for (std::size_t i = 0; i < std::min(pieces.size(), kMostPiecesSaid); ++i)
    text += QStringLiteral("\n%1  %2%3")
                .arg(bytesText(pieces[i]->bytes), pieces[i]->isScratch ? QStringLiteral("scratch of ") : QString(),
                     qs(pieces[i]->name));
  if (pieces.size() > kMostPiecesSaid) text += QStringLiteral("\nand %1 more").arg(pieces.size() - kMostPiecesSaid);
  return text;
}

QRectF MemoryPlot::field() const {
  return QRectF(rect()).adjusted(kAxisWidth, kRoomAbove, -10, -kLabelsBelow);
}

double MemoryPlot::placeOf(int step) const {
  return field().left() + (step + 0.5) / std::max(1, count()) * field().width();
}

double MemoryPlot::heightOf(std::int64_t bytes) const {
  const std::int64_t most = std::max<std::int64_t>({1, std::as_const(m_memory)->arenaBytes, m_usedBytes[m_peak]});
  return field().height() * static_cast<double>(bytes) / static_cast<double>(most);
}

int MemoryPlot::stepAt(double x) const {
  const QRectF inside = field();
  if (m_usedBytes.empty() || x < inside.left() || x > inside.right()) return -1;
  return std::clamp(static_cast<int>((x - inside.left()) / inside.width() * count()), 0, count() - 1);
}

/// Steps that share a pixel are drawn as one bar with the height of the highest.
void MemoryPlot::paintBars(QPainter& painter) const {
  const Theme& theme = m_theme();
  const QRectF inside = field();
  const int columns = std::clamp(count(), 1, std::max(1, static_cast<int>(inside.width())));
  const double width = inside.width() / columns;
  painter.setPen(Qt::NoPen);
  for (int column = 0; column < columns; ++column) {
    const auto stepOf = [&](int at) { return static_cast<int>(static_cast<std::int64_t>(at) * count() / columns); };
    const int begin = stepOf(column), end = std::max(begin + 1, stepOf(column + 1));
    const std::int64_t most = *std::max_element(m_usedBytes.begin() + begin, m_usedBytes.begin() + end);
    const double height = heightOf(most);
    const bool isPeak = begin <= static_cast<int>(m_peak) && static_cast<int>(m_peak) < end;
    painter.setBrush(isPeak ? theme.warning : theme.chart);
    const double gap = width >= 6 ? 1 : 0;
    painter.drawRect(QRectF(inside.left() + column * width, inside.bottom() - height, width - gap, height));
  }
}

void MemoryPlot::paintLines(QPainter& painter) const {
  const Theme& theme = m_theme();
  const QRectF inside = field();
  const std::int64_t arena = std::as_const(m_memory)->arenaBytes, peak = m_usedBytes[m_peak];
  const auto level = [&](std::int64_t bytes, const QString& text, const QColor& color, bool below) {
    const double y = inside.bottom() - heightOf(bytes);
    painter.setPen(QPen(color, 1, Qt::DashLine));
    painter.drawLine(QPointF(inside.left(), y), QPointF(inside.right(), y));
    painter.setPen(color);
    painter.drawText(QRectF(inside.left() + 4, below ? y + 1 : y - 17, inside.width() - 8, 16),
                     (below ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter, text);
  };
  if (arena > peak) level(arena, QStringLiteral("arena %1").arg(bytesText(arena)), theme.dimText, false);
  level(peak, QStringLiteral("peak %1 at step %2").arg(bytesText(peak)).arg(static_cast<qulonglong>(m_peak)),
        theme.warning, arena > peak);
  painter.setPen(theme.dimText);
  painter.drawText(QRectF(0, inside.bottom() - 16, kAxisWidth - 6, 16), Qt::AlignRight | Qt::AlignVCenter,
                   QStringLiteral("0 B"));
  painter.drawText(QRectF(0, inside.top() - 8, kAxisWidth - 6, 16), Qt::AlignRight | Qt::AlignVCenter,
                   bytesText(std::max(arena, peak)));
  const QRectF below(inside.left(), inside.bottom() + 2, inside.width(), kLabelsBelow - 2);
  painter.drawText(below, Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("step 0"));
  painter.drawText(below, Qt::AlignRight | Qt::AlignVCenter, QString::number(count() - 1));
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.accent);
  for (const int step : m_marked)
    painter.drawPolygon(
        QPolygonF({QPointF(placeOf(step), inside.bottom() + 1), QPointF(placeOf(step) - 4, inside.bottom() + 8),
                   QPointF(placeOf(step) + 4, inside.bottom() + 8)}));
  const auto line = [&](int step, const QPen& pen) {
    if (step < 0) return;
    painter.setPen(pen);
    painter.drawLine(QPointF(placeOf(step), inside.top()), QPointF(placeOf(step), inside.bottom()));
  };
  line(m_hovered, QPen(theme.dimText, 1));
  line(m_current, QPen(theme.text, 1.5));
}

void MemoryPlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = m_theme();
  painter.setFont(uiFont(8.5));
  painter.setPen(QPen(theme.border, 1));
  painter.setBrush(theme.base);
  painter.drawRect(field());
  if (!m_usedBytes.empty()) {
    paintBars(painter);
    painter.setRenderHint(QPainter::Antialiasing);
    paintLines(painter);
  }
  if (!hasFocus()) return;
  painter.setPen(QPen(theme.accent, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void MemoryPlot::mousePressEvent(QMouseEvent* event) {
  const int step = event->button() == Qt::LeftButton ? stepAt(event->localPos().x()) : -1;
  if (step >= 0) emit chosen(step);
}

void MemoryPlot::mouseMoveEvent(QMouseEvent* event) {
  const int step = stepAt(event->localPos().x());
  if (step == m_hovered) return;
  m_hovered = step;
  update();
}

void MemoryPlot::leaveEvent(QEvent*) {
  m_hovered = -1;
  update();
}

void MemoryPlot::keyPressEvent(QKeyEvent* event) {
  int step = m_current;
  switch (event->key()) {
    case Qt::Key_Left:
      --step;
      break;
    case Qt::Key_Right:
      ++step;
      break;
    case Qt::Key_Home:
      step = 0;
      break;
    case Qt::Key_End:
      step = count() - 1;
      break;
    case Qt::Key_P:
      step = static_cast<int>(m_peak);
      break;
    default:
      return QWidget::keyPressEvent(event);
  }
  if (count() > 0) emit chosen(std::clamp(step, 0, count() - 1));
}

bool MemoryPlot::event(QEvent* event) {
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int step = stepAt(help->pos().x());
  if (step < 0) {
    QToolTip::hideText();
    event->ignore();
  } else {
    QToolTip::showText(help->globalPos(), wordsOf(step), this);
  }
  return true;
}

}  // namespace fusescope
