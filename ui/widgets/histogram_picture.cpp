#include "ui/widgets/histogram_picture.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "session/calibrate.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr double kAxisHeight = 18, kLabelHeight = 16;

QString shortNumber(double number) {
  return QString::number(number, 'g', 3);
}

/// The range that the plot shows: all numbers that were seen, and the whole range of the edge.
struct Extent {
  double least = 0, most = 0;
  double shareOf(double number) const { return most > least ? (number - least) / (most - least) : 0.5; }
};

Extent extentOf(const EdgeRange& edge) {
  Extent extent{edge.range.low, edge.range.high};
  if (edge.histogram) {
    extent.least = std::min(extent.least, edge.histogram->least());
    extent.most = std::max(extent.most, edge.histogram->most());
  }
  return extent;
}

void paintBars(QPainter& painter, const QRectF& field, const EdgeRange& edge, const Extent& extent,
               const Theme& theme) {
  const int columns = std::max(1, static_cast<int>(field.width() / 2));
  const auto heights = histogramColumns(*edge.histogram, extent.least, extent.most, columns);
  const double highest = std::log1p(*std::ranges::max_element(heights));
  const double width = field.width() / columns;
  painter.setPen(Qt::NoPen);
  for (int i = 0; i < columns; ++i) {
    const double count = heights[static_cast<std::size_t>(i)];
    if (count <= 0) continue;
    const double middle = extent.least + (i + 0.5) / columns * (extent.most - extent.least);
    const bool clamped = middle < edge.range.low || middle > edge.range.high;
    painter.setBrush(clamped ? QBrush(theme.warning) : QBrush(theme.chart));
    const double height = std::max(1.0, field.height() * std::log1p(count) / highest);
    painter.drawRect(QRectF(field.left() + i * width, field.bottom() - height, std::max(1.0, width), height));
  }
}

/// The part beyond an end is hatched, so that not only its colour says that it is clamped.
void paintEnd(QPainter& painter, const QRectF& field, double x, bool low, const Theme& theme) {
  const QRectF beyond = low ? QRectF(field.left(), field.top(), x - field.left(), field.height())
                            : QRectF(x, field.top(), field.right() - x, field.height());
  QColor hatch = theme.warning;
  hatch.setAlpha(110);
  if (beyond.width() > 1) painter.fillRect(beyond, QBrush(hatch, Qt::BDiagPattern));
  painter.setPen(QPen(theme.text, 1.5));
  painter.drawLine(QPointF(x, field.top()), QPointF(x, field.bottom()));
}

/// Paints the numbers of both ends below the plot, without overlapping and inside its width.
void paintNumbers(QPainter& painter, const QRectF& place, const QRectF& field, const EdgeRange& edge, double low,
                  double high, const Theme& theme) {
  painter.setPen(theme.text);
  const QFontMetricsF metrics(painter.font());
  const QString left = shortNumber(edge.range.low), right = shortNumber(edge.range.high);
  const double leftWidth = metrics.horizontalAdvance(left), rightWidth = metrics.horizontalAdvance(right);
  double leftAt = std::clamp(low - leftWidth / 2, place.left(), place.right() - leftWidth);
  double rightAt = std::clamp(high - rightWidth / 2, place.left(), place.right() - rightWidth);
  const double gap = leftAt + leftWidth + 8 - rightAt;
  if (gap > 0) {
    leftAt = std::max(place.left(), leftAt - gap / 2);
    rightAt = std::min(place.right() - rightWidth, std::max(rightAt, leftAt + leftWidth + 8));
  }
  const double y = field.bottom() + 1;
  painter.drawText(QRectF(leftAt, y, leftWidth + 2, kLabelHeight), Qt::AlignLeft | Qt::AlignVCenter, left);
  painter.drawText(QRectF(rightAt, y, rightWidth + 2, kLabelHeight), Qt::AlignLeft | Qt::AlignVCenter, right);
}

}  // namespace

std::vector<double> histogramColumns(const Histogram& histogram, double least, double most, int columns) {
  std::vector<double> heights(static_cast<std::size_t>(columns), 0.0);
  const double width = (most - least) / columns;
  const auto add = [&](double from, double to, double count) {
    if (!(width > 0)) return void(heights[heights.size() / 2] += count);
    const double first = (std::max(from, least) - least) / width, last = (std::min(to, most) - least) / width;
    const int begin = std::clamp(static_cast<int>(first), 0, columns - 1);
    const int end = std::clamp(static_cast<int>(std::ceil(last)), begin + 1, columns);
    for (int i = begin; i < end; ++i) {
      const double share = last > first ? (std::min<double>(last, i + 1) - std::max<double>(first, i)) / (last - first)
                                        : 1.0 / (end - begin);
      heights[static_cast<std::size_t>(i)] += count * share;
    }
  };
  if (histogram.width() == 0) {
    add(0, 0, static_cast<double>(histogram.count()));
    return heights;
  }
  const auto& bins = histogram.bins();
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double from = static_cast<double>(histogram.firstBin() + static_cast<std::int64_t>(i)) * histogram.width();
    if (bins[i] > 0) add(from, from + histogram.width(), static_cast<double>(bins[i]));
  }
  return heights;
}

void paintHistogram(QPainter& painter, const QRectF& place, const EdgeRange& edge, const Theme& theme) {
  const QRectF field = place.adjusted(0, kLabelHeight, 0, -kAxisHeight);
  const QRectF inside = field.adjusted(4, 2, -4, 0);
  const Extent extent = extentOf(edge);
  painter.setFont(uiFont(8.5));
  painter.fillRect(field, theme.base);
  painter.setPen(theme.dimText);
  painter.drawText(QRectF(place.left(), place.top(), place.width(), kLabelHeight), Qt::AlignLeft | Qt::AlignVCenter,
                   edge.histogram ? QStringLiteral("counts, logarithmic") : QStringLiteral("no histogram was kept"));
  if (edge.histogram && edge.histogram->count() > 0) paintBars(painter, inside, edge, extent, theme);
  const auto xOf = [&](double number) { return inside.left() + extent.shareOf(number) * inside.width(); };
  const double low = xOf(edge.range.low), high = xOf(edge.range.high);
  paintEnd(painter, inside, low, true, theme);
  paintEnd(painter, inside, high, false, theme);
  painter.setPen(QPen(theme.border, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(field);
  paintNumbers(painter, place, field, edge, low, high, theme);
}

QString rangeWords(const EdgeRange& edge) {
  const auto numbers = [](double from, double to) {
    return QStringLiteral("%1 … %2").arg(shortNumber(from), shortNumber(to));
  };
  const QString range = numbers(edge.range.low, edge.range.high);
  if (!edge.histogram) return range;
  return QStringLiteral("%1 of %2 seen, %3 % clamped")
      .arg(range, numbers(edge.histogram->least(), edge.histogram->most()),
           QString::number(100 * clampedShare(edge), 'g', 2));
}

}  // namespace fusescope
