#include "ui/canvas/canvas_metrics.h"

#include <QFontMetricsF>

#include "ui/theme/theme.h"

namespace fusescope {
namespace {

QFont inPixels(QFont font, int pixels) {
  font.setPixelSize(pixels);
  font.setHintingPreference(QFont::PreferNoHinting);  // so that texts have the same width at every zoom
  return font;
}

}  // namespace

QFont titleFont() {
  return inPixels(uiFont(10, QFont::DemiBold), metrics::kTitlePixels);
}
QFont detailFont() {
  return inPixels(uiFont(), metrics::kDetailPixels);
}
QFont metaFont() {
  return inPixels(monoFont(), metrics::kMetaPixels);
}

QFont badgeFont() {
  QFont font = metaFont();
  font.setBold(true);
  return font;
}

QFont failureFont() {
  QFont font = detailFont();
  font.setBold(true);
  return font;
}

double badgeWidth(const QString& label) {
  return label.isEmpty() ? 0 : QFontMetricsF(badgeFont()).horizontalAdvance(label) + metrics::kBadgePadding;
}

QString failureWords() {
  return QStringLiteral("\u2717 goes wrong here");
}

QRectF failureWordsPlace(const QRectF& box, int pixelSize) {
  QFont font = failureFont();
  font.setPixelSize(pixelSize);
  const double height = 1.5 * pixelSize;
  constexpr double kAboveBadges = 11;
  return QRectF(box.left(), box.top() - height - kAboveBadges,
                QFontMetricsF(font).horizontalAdvance(failureWords()) + 12, height);
}

QString fittedTitle(const QString& title, const QFont& font, double width) {
  const QFontMetricsF metrics(font);
  QString fitted = title;
  while (metrics.horizontalAdvance(fitted) > width) {
    const int last = fitted.lastIndexOf(QStringLiteral(" + "));
    if (last < 0) return metrics.elidedText(fitted, Qt::ElideMiddle, width);
    fitted = fitted.left(last) + QStringLiteral(" …");
  }
  return fitted;
}

std::pair<QString, QString> titleInTwoLines(const QString& title, const QFont& font, double first, double second) {
  const QString joint = QStringLiteral(" + ");
  const QFontMetricsF metrics(font);
  int end = title.lastIndexOf(joint);
  while (end > 0 && metrics.horizontalAdvance(title.left(end) + QStringLiteral(" +")) > first)
    end = title.lastIndexOf(joint, end - 1);
  if (end <= 0) return {fittedTitle(title, font, first), QString()};
  return {title.left(end) + QStringLiteral(" +"), fittedTitle(title.mid(end + joint.size()), font, second)};
}

TextMeasure::TextMeasure(const QFont& font) {
  const QFontMetricsF metrics(font);
  for (std::size_t c = 32; c < m_ascii.size(); ++c) m_ascii[c] = metrics.horizontalAdvance(QChar(ushort(c)));
  m_other = metrics.horizontalAdvance(QChar('M'));
}

double TextMeasure::width(const QString& text) const {
  double sum = 0;
  for (const QChar c : text) sum += of(c);
  return sum;
}

QString TextMeasure::elided(const QString& text, double limit) const {
  if (width(text) <= limit) return text;
  const QChar dots(0x2026);
  const double room = limit - of(dots);
  double used = 0;
  int head = 0, tail = 0;
  while (head + tail < text.size()) {
    const bool atFront = head <= tail;
    const double next = of(atFront ? text[head] : text[text.size() - 1 - tail]);
    if (used + next > room) break;
    used += next;
    atFront ? ++head : ++tail;
  }
  return text.left(head) + dots + text.right(tail);
}

}  // namespace fusescope
