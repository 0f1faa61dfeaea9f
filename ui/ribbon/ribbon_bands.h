#pragma once

#include <QRectF>
#include <vector>

#include "ui/ribbon/ribbon_picture.h"

namespace fusescope {

/// The part of the axis that the ribbon shows.
struct RibbonRange {
  double from = 0, to = 0;
  double width() const { return to - from; }
  bool operator==(const RibbonRange&) const = default;
};

/// A horizontal strip of the ribbon, from top to bottom.
struct RibbonBand {
  enum class Kind {
    Progress,     ///< how far a build is
    Above,        ///< a row of segments or blocks
    Lane,         ///< the kernels of a lane
    Errors,       ///< their local errors
    Differences,  ///< where a lane and the one below it have other fusions or types
    Deltas,       ///< by how much the lower one is slower or faster
    InView        ///< what the canvas sees
  };
  Kind kind = Kind::Lane;
  std::size_t of = 0;  ///< the row above, the lane, the upper lane
  QRectF rect;         ///< its part of the axis, in the widget's pixels
};

namespace ribbon {
constexpr int kLeastHeight = 64, kMostHeight = 120;  ///< of two lanes at the most; each further one adds its height
constexpr int kTextPixels = 10, kLabelPixels = 11;   ///< heights of letters
constexpr double kLeastSeen = 3;                     ///< narrower bars are gathered, in pixels
}  // namespace ribbon

/// How high a ribbon of `picture` is. `roomy`: the window has room for more than the least.
int ribbonHeight(const RibbonPicture& picture, bool roomy);
/// The rows above that a ribbon of `height` shows of `range`: segments, then blocks from the first that tells something
/// apart there; where the user has zoomed into one block, or the others have no room for words, that which is around
/// them, too.
std::vector<std::size_t> rowsShown(const RibbonPicture& picture, const RibbonRange& range, int height);
/// All strips of `axis`, the ribbon without its text.
std::vector<RibbonBand> ribbonBands(const RibbonPicture& picture, const RibbonRange& range, const QRectF& axis);

/// From the axis to pixels and back.
struct RibbonScale {
  RibbonRange range;
  double left = 0, width = 1;
  double toX(double place) const { return left + (place - range.from) / range.width() * width; }
  double toPlace(double x) const { return range.from + (x - left) / width * range.width(); }
  double pixels(double count) const { return count * range.width() / width; }  ///< so many, on the axis
};

}  // namespace fusescope
