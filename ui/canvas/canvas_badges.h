#pragma once

#include <QRectF>
#include <QString>
#include <vector>

#include "ui/canvas/canvas_scene.h"
#include "ui/document/shown_error.h"
#include "ui/document/shown_time.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// What a box is to be looked at for. The first weighs most.
enum class Mark : std::uint8_t { Wrong, Refused, Ignored, Slow, Fallback, Guessed, Pinned };
inline constexpr int kMarks = 7;

/// A box is slow from this share of the time of all kernels of the run.
inline constexpr double kSlowShare = 0.1;

/// Those of a box, in the order of Mark. `allMs`: the time of all kernels that the run on screen measured; 0: none was.
/// Only what was measured of the plan on screen makes a box slow or wrong.
std::vector<Mark> marksOf(const CanvasItem& item, const ShownTime& time, double allMs, const ShownError& error,
                          double errorBound);

QString markWord(Mark mark);  ///< "pinned"
QColor markColor(Mark mark, const Theme& theme);
/// Why a box has it, as a sentence. Of Slow and Wrong the numbers are the caller's to add.
QString markText(Mark mark);

/// A word in its place.
struct PlacedBadge {
  QRectF rect;
  QString text;
  QColor fill;
};
/// The row of badges on the upper edge of `box`, from the right, in scene units. Where there is no room for all, those
/// that weigh least are one that counts them: "+2". `pixelSize` is that of the letters.
std::vector<PlacedBadge> placeBadges(const QRectF& box, const std::vector<Mark>& marks, int pixelSize,
                                     const Theme& theme);

}  // namespace fusescope
