#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "ui/ribbon/ribbon_lane.h"

namespace fusescope {

/// The difference of two lanes, one above the other, in one group.
struct GroupDifference {
  bool fusion = false;            ///< the two sides have different kernels
  bool types = false;             ///< the kernels are the same, but their types differ
  std::optional<double> deltaMs;  ///< lower lane minus upper lane; only if each kernel of both was measured
};

/// Everything that the ribbon paints except for colours and the user's actions. Const after it is made, off the GUI
/// thread.
struct RibbonPicture {
  std::vector<RibbonLane> lanes;  ///< from top to bottom; the last is that of the displayed run, or the displayed plan
  RibbonLayout layout;
  RibbonWidth wanted = RibbonWidth::Time;
  WidthBasis basis = WidthBasis::Time;
  std::vector<std::vector<GroupDifference>> differences;  ///< for each upper lane and each group
  double mostDelta = 0;                                   ///< the largest absolute deltaMs
  std::vector<std::size_t> unseen;                        ///< for each lane, see KernelWidths::atMinimumWidth
  /// For each lane and bar, the milliseconds and the number of kernels without a time of all bars before it; one more
  /// for the end.
  std::vector<std::vector<double>> msBefore;
  std::vector<std::vector<std::uint32_t>> untimedBefore;

  bool empty() const { return lanes.empty() || layout.total <= 0; }
  const RibbonLane& shown() const { return lanes.back(); }
  /// Return these for the bars [first, last) of a lane.
  double msOf(std::size_t lane, std::uint32_t first, std::uint32_t last) const {
    return msBefore[lane][last] - msBefore[lane][first];
  }
  std::uint32_t untimedOf(std::size_t lane, std::uint32_t first, std::uint32_t last) const {
    return untimedBefore[lane][last] - untimedBefore[lane][first];
  }
  /// Returns the bars of a lane whose groups are among [first, last).
  std::pair<std::uint32_t, std::uint32_t> barsOfGroups(std::size_t lane, std::uint32_t first, std::uint32_t last) const;
  bool anyErrors() const;
};

/// Makes the layout of the lanes. May run on any thread.
RibbonPicture makePicture(std::vector<RibbonLane> lanes, RibbonWidth wanted);

/// The result of a request for a picture.
struct MadePicture {
  std::shared_ptr<const RibbonPicture> picture;
  std::map<std::string, std::shared_ptr<const PlanSnapshot>> plans;  ///< for each run, a plan that was made for the
                                                                     ///< picture
  QString problem;  ///< why a lane is missing, for people; empty: none is
};
/// Makes the lanes, with the plans that they need, and their layout. A lane whose plan cannot be made is omitted. May
/// run on any thread.
MadePicture makePicture(const std::vector<LaneRequest>& requests, RibbonWidth wanted, const CanvasFonts& fonts,
                        const StopToken& stop);

}  // namespace fusescope
