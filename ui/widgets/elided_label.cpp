#include "ui/widgets/elided_label.h"

#include <QHelpEvent>
#include <QPainter>
#include <QStyle>
#include <QToolTip>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kLeastLabelWidth = 24;  // the width of an ellipsis and a letter

}  // namespace

QString fitting(const QStringList& texts, const QFontMetrics& font, int width) {
  for (const QString& text : texts)
    if (font.horizontalAdvance(text) <= width) return text;
  return font.elidedText(texts.back(), Qt::ElideMiddle, width);
}

ElidedLabel::ElidedLabel(QWidget* parent) : QLabel(parent) {
  setTextFormat(Qt::PlainText);
}

QRect ElidedLabel::place() const {
  return contentsRect().adjusted(margin(), margin(), -margin(), -margin());
}

QString ElidedLabel::shownText() const {
  QString line = text();
  line.replace(QLatin1Char('\n'), QLatin1Char(' '));
  return fontMetrics().elidedText(line, Qt::ElideRight, place().width());
}

QSize ElidedLabel::minimumSizeHint() const {
  return {kLeastLabelWidth, QLabel::minimumSizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent* event) {
  const QString shown = shownText();
  if (shown == text()) return QLabel::paintEvent(event);
  QPainter painter(this);
  drawFrame(&painter);
  style()->drawItemText(&painter, place(), static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter), palette(), isEnabled(),
                        shown, foregroundRole());
}

bool ElidedLabel::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || shownText() == text()) return QLabel::event(event);
  QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), tipText(text()), this);
  return true;
}

}  // namespace fusescope
