#pragma once

#include <QRectF>

#include "calibration/ranges.h"
#include "ui/theme/theme.h"

class QPainter;

namespace fusescope {

/// Returns the heights with which a histogram is drawn: how many numbers fall into each of `columns` equal parts of the
/// plotted range. A bin that overlaps several columns is divided among them by width.
std::vector<double> histogramColumns(const Histogram& histogram, double least, double most, int columns);

/// Paints the observed numbers of an edge and the range of its codes: counts on a logarithmic scale, both ends of the
/// range as lines with their numbers, and clamped numbers beyond them hatched and in another colour. Without a
/// histogram it paints only the range, and says so.
void paintHistogram(QPainter& painter, const QRectF& place, const EdgeRange& edge, const Theme& theme);

/// Returns "-0.52 … 3.1 of -0.52 … 3.4 seen, 0.02 % clamped"; without a histogram only the range.
QString rangeWords(const EdgeRange& edge);

}  // namespace fusescope
