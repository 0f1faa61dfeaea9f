#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "ui/ribbon/ribbon_lane.h"

namespace fusescope {

/// What two lanes that stand above each other have in one group.
struct GroupDifference {
  bool fusion = false;            ///< other kernels on the one side than on the other
  bool types = false;             ///< of the same kernels, but other types
  std::optional<double> deltaMs;  ///< lower lane minus upper; only where each kernel of both was measured
};

/// All that the ribbon paints but colours and what the user does. Const once made; made off the GUI thread.
struct RibbonPicture {
  std::vector<RibbonLane> lanes;  ///< from top to bottom; the last is that of the shown run, or the plan on screen
  RibbonLayout layout;
  RibbonWidth wanted = RibbonWidth::Time;
  WidthBasis basis = WidthBasis::Time;
  std::vector<std::vector<GroupDifference>> differences;  ///< by upper lane, then by group
  double mostDelta = 0;                                   ///< the largest deltaMs without its sign
  std::vector<std::size_t> unseen;                        ///< by lane: KernelWidths::unseen
  /// By lane and bar: milliseconds, and kernels without a time, of the bars before it; one more for the end.
  std::vector<std::vector<double>> msBefore;
  std::vector<std::vector<std::uint32_t>> untimedBefore;

  bool empty() const { return lanes.empty() || layout.total <= 0; }
  const RibbonLane& shown() const { return lanes.back(); }
  /// Of bars [first, last) of a lane.
  double msOf(std::size_t lane, std::uint32_t first, std::uint32_t last) const {
    return msBefore[lane][last] - msBefore[lane][first];
  }
  std::uint32_t untimedOf(std::size_t lane, std::uint32_t first, std::uint32_t last) const {
    return untimedBefore[lane][last] - untimedBefore[lane][first];
  }
  /// The bars of a lane whose groups are among [first, last).
  std::pair<std::uint32_t, std::uint32_t> barsOfGroups(std::size_t lane, std::uint32_t first, std::uint32_t last) const;
  bool anyErrors() const;
};

/// Lays the lanes out. Any thread.
RibbonPicture makePicture(std::vector<RibbonLane> lanes, RibbonWidth wanted);

/// What came of a request for a picture.
struct MadePicture {
  std::shared_ptr<const RibbonPicture> picture;
  std::map<std::string, std::shared_ptr<const PlanSnapshot>> plans;  ///< by run: those that were made for it
  QString problem;  ///< for people: why a lane is missing; empty: none is
};
/// Makes the lanes, with the plans that they need, and lays them out. A lane whose plan cannot be made is left out.
/// Any thread.
MadePicture makePicture(const std::vector<LaneWish>& wishes, RibbonWidth wanted, const CanvasFonts& fonts,
                        const StopToken& stop);

}  // namespace fusescope
