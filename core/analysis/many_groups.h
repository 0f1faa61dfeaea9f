#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fusescope {

/// The sets of one side.
using SideSets = std::vector<std::vector<std::uint32_t>>;

/// A group of sets of several sides that have common elements, directly or through other sets of any side. It is a
/// SetGroup for any number of sides.
struct ManyGroup {
  std::vector<std::vector<std::uint32_t>>
      sets;           ///< by side: ascending indices into its list; empty if the group has no set of this side
  bool same = false;  ///< every side has the same sets, equally often
};

/// Groups sets of any number of sides. A set lists its elements without duplicates; an empty set is in a group of its
/// own. Groups are ordered by their first set, those of the first side first.
std::vector<ManyGroup> groupManySets(std::span<const SideSets> sides);

}  // namespace fusescope
