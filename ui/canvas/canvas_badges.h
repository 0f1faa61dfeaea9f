#pragma once

#include <QRectF>
#include <QString>
#include <vector>

#include "ui/canvas/canvas_scene.h"
#include "ui/document/shown_error.h"
#include "ui/document/shown_time.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// The reasons to look at a box. The first is the most important.
enum class Mark : std::uint8_t { Wrong, Refused, Ignored, Slow, Fallback, Guessed, Pinned };
inline constexpr int kMarks = 7;

/// A box is slow if it takes at least this share of the time of all kernels of the run.
inline constexpr double kSlowShare = 0.1;

/// Returns the marks of a box in the order of Mark. `allMs` is the time of all kernels that the displayed run measured;
/// 0: none. Only measurements of the displayed plan make a box slow or wrong.
std::vector<Mark> marksOf(const CanvasItem& item, const ShownTime& time, double allMs, const ShownError& error,
                          double errorBound);

QString markWord(Mark mark);  ///< "pinned"
QColor markColor(Mark mark, const Theme& theme);
/// Returns why a box has the mark, as a sentence. For Slow and Wrong the caller adds the numbers.
QString markText(Mark mark);

/// A badge with its place.
struct PlacedBadge {
  QRectF rect;
  QString text;
  QColor fill;
};
/// Places the badges on the upper edge of `box`, from the right, in scene units. If there is no room for all, the least
/// important ones are replaced by one with their number: "+2". `pixelSize` is the size of the letters.
std::vector<PlacedBadge> placeBadges(const QRectF& box, const std::vector<Mark>& marks, int pixelSize,
                                     const Theme& theme);

}  // namespace fusescope
