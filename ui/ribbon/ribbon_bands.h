#pragma once

#include <QRectF>
#include <vector>

#include "ui/ribbon/ribbon_picture.h"

namespace fusescope {

/// The part of the axis that the ribbon displays.
struct RibbonRange {
  double from = 0, to = 0;
  double width() const { return to - from; }
  bool operator==(const RibbonRange&) const = default;
};

/// A horizontal strip of the ribbon, from top to bottom.
struct RibbonBand {
  enum class Kind {
    Progress,     ///< the progress of a build
    Above,        ///< a row of segments or blocks
    Lane,         ///< the kernels of a lane
    Errors,       ///< their local errors
    Differences,  ///< where a lane and the one below it have different fusions or types
    Deltas,       ///< by how much the lower one is slower or faster
    InView        ///< the part that the canvas shows
  };
  Kind kind = Kind::Lane;
  std::size_t of = 0;  ///< the row above, the lane, or the upper one of two lanes
  QRectF rect;         ///< its part of the axis, in the widget's pixels
};

namespace ribbon {
constexpr int kLeastHeight = 64, kMostHeight = 120;  ///< of two lanes; each further lane adds its height
constexpr int kTextPixels = 10, kLabelPixels = 11;   ///< heights of letters
constexpr double kLeastSeen = 3;                     ///< in pixels; narrower bars are drawn together
}  // namespace ribbon

/// Returns the height of a ribbon with `picture`. `roomy` says that the window has room for more than the minimum.
int ribbonHeight(const RibbonPicture& picture, bool roomy);
/// Returns the rows above the lanes that a ribbon of `height` displays for `range`: segments, then blocks from the
/// first level that distinguishes something there. If the user zoomed into one block, or the others have no room for
/// text, the surrounding block is included.
std::vector<std::size_t> rowsShown(const RibbonPicture& picture, const RibbonRange& range, int height);
/// Returns all strips of `axis`, which is the ribbon without its text.
std::vector<RibbonBand> ribbonBands(const RibbonPicture& picture, const RibbonRange& range, const QRectF& axis);

/// Converts positions on the axis to pixels and back.
struct RibbonScale {
  RibbonRange range;
  double left = 0, width = 1;
  double toX(double place) const { return left + (place - range.from) / range.width() * width; }
  double toPlace(double x) const { return range.from + (x - left) / width * range.width(); }
  double pixels(double count) const { return count * range.width() / width; }  ///< their length on the axis
};

}  // namespace fusescope
