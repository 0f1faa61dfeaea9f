#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fusescope {

/// Sets of one side each.
using SideSets = std::vector<std::vector<std::uint32_t>>;

/// Sets of several sides that have things in common, directly or through other sets of whatever side: as SetGroup, for
/// any number of sides.
struct ManyGroup {
  std::vector<std::vector<std::uint32_t>>
      sets;           ///< by side: places in its list, ascending; empty: it covers nothing of it
  bool same = false;  ///< every side has the same sets, each as often
};

/// A set is the numbers of the things in it, each once; an empty one stands alone. Groups stand in the order of their
/// first set, those of the first side first.
std::vector<ManyGroup> groupManySets(std::span<const SideSets> sides);

}  // namespace fusescope
