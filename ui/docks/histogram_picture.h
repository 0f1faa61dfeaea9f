#pragma once

#include <QRectF>

#include "calibration/ranges.h"
#include "ui/theme/theme.h"

class QPainter;

namespace fusescope {

/// Heights that a histogram is drawn with: how many numbers fall into each of `columns` equal parts of what the plot
/// shows. A bin that several columns cut is divided among them by their share of its width.
std::vector<double> histogramColumns(const Histogram& histogram, double least, double most, int columns);

/// What was seen on an edge, and what of it codes stand for: counts on a logarithmic scale, the two ends of the range
/// as lines with their numbers, what is clamped beyond them in another colour and hatched. Without a histogram the
/// range alone, which is said.
void paintHistogram(QPainter& painter, const QRectF& place, const EdgeRange& edge, const Theme& theme);

/// "-0.52 … 3.1 of -0.52 … 3.4 seen, 0.02 % clamped"; without a histogram the range alone.
QString rangeWords(const EdgeRange& edge);

}  // namespace fusescope
