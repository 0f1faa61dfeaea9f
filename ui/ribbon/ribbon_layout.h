#pragma once

#include <cstdint>
#include <vector>

#include "ui/ribbon/lane_groups.h"
#include "ui/ribbon/ribbon_row.h"

namespace fusescope {

/// What the layout needs to know about one lane.
struct LaneShape {
  std::vector<double> widths;                     ///< for each kernel
  std::vector<std::int32_t> segments;             ///< for each kernel; -1: unknown
  std::vector<std::vector<std::int32_t>> blocks;  ///< for each kernel, from the outermost block to the innermost
};

/// The positions of everything on the ribbon's axis, from 0 to `total`. All lanes share the rows above them, because a
/// group has one position in all lanes: segments, if there are several, then blocks from the outermost to the
/// innermost.
struct RibbonLayout {
  double total = 0;
  std::vector<LaneGroup> groups;
  std::vector<double> groupBegin;  ///< for each group, followed by `total`
  std::vector<RibbonRow> above;
  std::vector<RibbonRow> lanes;                         ///< the kernels of each lane
  std::vector<std::vector<std::uint32_t>> barOfKernel;  ///< for each lane and kernel, its index in the lane's row
};

/// Makes the layout. A group is as wide as its kernels in the lane in which they are widest together; in other lanes
/// they fill a part of it from the left. It is a pure function of about linear time.
RibbonLayout layOutRibbon(std::vector<LaneGroup> groups, const std::vector<LaneShape>& lanes);

}  // namespace fusescope
