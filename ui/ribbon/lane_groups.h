#pragma once

#include <cstdint>
#include <vector>

namespace fusescope {

/// Kernels of several lanes that cover the same nodes, as far as each lane covers them; they are drawn one below the
/// other.
struct LaneGroup {
  std::vector<std::vector<std::uint32_t>> kernels;  ///< for each lane, indices of its kernels, ascending
  bool same = true;                                 ///< every lane has the same sets of nodes here, and so the same
                                                    ///< fusions
};

/// For each lane and kernel, the numbers of the nodes that it covers, without duplicates.
using LaneSets = std::vector<std::vector<std::vector<std::uint32_t>>>;

/// Returns the smallest common groups of all lanes, in the order of the last lane, which is the displayed plan. Groups
/// that the last lane does not have come after what precedes them in their own lane. A node without a kernel in some
/// lane is ignored; a kernel that contains only such nodes is a separate group. With one lane, each kernel is a group.
/// It is a pure function of about linear time.
std::vector<LaneGroup> groupLanes(LaneSets lanes);

}  // namespace fusescope
