#include "ui/dialogs/histogram_plot.h"

#include <QPainter>

#include "ui/docks/histogram_picture.h"

namespace fusescope {

HistogramPlot::HistogramPlot(std::function<const Theme&()> theme, QWidget* parent)
    : QWidget(parent), m_theme(std::move(theme)) {
  setAccessibleName(QStringLiteral("Histogram of the edge"));
}

void HistogramPlot::setEdge(const QString& value, const EdgeRange& edge) {
  m_value = value;
  m_edge = edge;
  setAccessibleDescription(QStringLiteral("%1: %2").arg(value, rangeWords(edge)));
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
  painter.drawText(QRectF(whole.left(), whole.top() + line, whole.width(), line), Qt::AlignLeft, rangeWords(*m_edge));
  paintHistogram(painter, whole.adjusted(0, 2 * line + 4, 0, 0), *m_edge, theme);
}

}  // namespace fusescope
