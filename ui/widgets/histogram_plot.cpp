#include "ui/widgets/histogram_plot.h"

#include <QPainter>

namespace fusescope {

HistogramPlot::HistogramPlot(std::function<const Theme&()> theme, QWidget* parent)
    : QWidget(parent), m_theme(std::move(theme)) {
  setAccessibleName(QStringLiteral("Histogram of the edge"));
}

void HistogramPlot::setNumbers(const QString& title, const EdgeRange& numbers, const QString& words) {
  m_value = title;
  m_edge = numbers;
  m_words = words;
  setAccessibleDescription(QStringLiteral("%1: %2").arg(title, words));
  update();
}

void HistogramPlot::clear(const QString& hint) {
  m_value.clear();
  m_edge.reset();
  m_hint = hint;
  setAccessibleDescription(hint);
  update();
}

void HistogramPlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Theme& theme = m_theme();
  const QRectF whole = QRectF(rect()).adjusted(4, 4, -4, -4);
  painter.setFont(uiFont(9.5));
  if (!m_edge) {
    painter.setPen(theme.dimText);
    painter.drawText(whole, Qt::AlignCenter | Qt::TextWordWrap, m_hint);
    return;
  }
  const double line = painter.fontMetrics().height();
  painter.setPen(theme.text);
  const QString title = painter.fontMetrics().elidedText(m_value, Qt::ElideMiddle, static_cast<int>(whole.width()));
  painter.drawText(QRectF(whole.left(), whole.top(), whole.width(), line), Qt::AlignLeft, title);
  painter.setPen(theme.dimText);
  painter.drawText(QRectF(whole.left(), whole.top() + line, whole.width(), line), Qt::AlignLeft,
                   painter.fontMetrics().elidedText(m_words, Qt::ElideRight, static_cast<int>(whole.width())));
  paintHistogram(painter, whole.adjusted(0, 2 * line + 4, 0, 0), *m_edge, theme);
}

}  // namespace fusescope
