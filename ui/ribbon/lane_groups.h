#pragma once

#include <cstdint>
#include <vector>

namespace fusescope {

/// Kernels of several lanes that cover the same things, as far as each lane covers them: they stand under each other.
struct LaneGroup {
  std::vector<std::vector<std::uint32_t>> kernels;  ///< by lane: places in it, ascending
  bool same = true;                                 ///< every lane has the same sets of things here: the same fusions
};

/// By lane and kernel: the numbers of the things (nodes) that it covers, each once.
using LaneSets = std::vector<std::vector<std::vector<std::uint32_t>>>;

/// The smallest common groups of all lanes, in the order of the last lane, which is the one on screen; what it has
/// nothing of stands behind what precedes it in its own lane. A thing that some lane has no kernel for tells nothing;
/// a kernel of such things alone has a group of its own. With one lane each kernel is a group. Pure; about linear.
std::vector<LaneGroup> groupLanes(LaneSets lanes);

}  // namespace fusescope
