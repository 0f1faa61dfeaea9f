#pragma once

#include <cstdint>
#include <vector>

#include "ui/ribbon/lane_groups.h"
#include "ui/ribbon/ribbon_row.h"

namespace fusescope {

/// What the layout is told of one lane.
struct LaneShape {
  std::vector<double> widths;                     ///< by kernel
  std::vector<std::int32_t> segments;             ///< by kernel; -1: in none that is told
  std::vector<std::vector<std::int32_t>> blocks;  ///< by kernel: from the outermost block to the innermost
};

/// Where everything stands on the ribbon's axis, from 0 to `total`. The rows above are of all lanes, since groups have
/// one place in all of them: segments, where there are several, then blocks from the outside to the inside.
struct RibbonLayout {
  double total = 0;
  std::vector<LaneGroup> groups;
  std::vector<double> groupBegin;  ///< by group, and `total` behind the last
  std::vector<RibbonRow> above;
  std::vector<RibbonRow> lanes;                         ///< the kernels of each lane
  std::vector<std::vector<std::uint32_t>> barOfKernel;  ///< by lane and kernel: its place in the lane's row
};

/// A group is as wide as its kernels in the lane where they are widest together; in others they fill a part of it from
/// the left. Pure; about linear.
RibbonLayout layOutRibbon(std::vector<LaneGroup> groups, const std::vector<LaneShape>& lanes);

}  // namespace fusescope
