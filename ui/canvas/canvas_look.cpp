#include "ui/canvas/canvas_look.h"

#include <QFontMetricsF>

#include "ui/canvas/canvas_metrics.h"

namespace fusescope {
namespace {

constexpr double kNamesFrom = 0.30, kFullFrom = metrics::kLeastPixels / metrics::kDetailPixels;

}  // namespace

QStringList stubLabels(const CanvasItem& item) {
  const QFontMetricsF font(metaFont());
  const auto widthOf = [&](const QString& text) { return font.horizontalAdvance(text) + metrics::kStubPadding; };
  double room = item.size.width() - metrics::kBoxPaddingX - metrics::kStripe - 6;
  QStringList labels;
  for (int i = 0; i < item.stubs.size(); ++i) {
    const int left = int(item.stubs.size()) - i;
    const QString rest = QStringLiteral("+%1").arg(left);
    const double kept = left > 1 ? metrics::kStubGap + widthOf(rest) : 0;
    if (widthOf(item.stubs[i]) + kept > room) return labels << rest;
    labels << item.stubs[i];
    room -= widthOf(item.stubs[i]) + metrics::kStubGap;
  }
  return labels;
}

Detail detailAt(double scale) {
  if (scale < kNamesFrom) return Detail::Colors;
  return scale < kFullFrom ? Detail::Names : Detail::Full;
}

}  // namespace fusescope
