#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fusescope {

/// Sets of the two sides that have things in common, directly or through other sets of either side: the smallest group
/// that covers the same things on both, as far as both cover them.
struct SetGroup {
  std::vector<std::uint32_t> a, b;  ///< places in the lists of sets, ascending
  /// Whether both sides have the same sets, each as often: where no two sets of a side share a thing, one each. Then
  /// b[i] has just the things of a[i], and stands there whatever its place.
  bool same = false;
};

/// A set is the numbers of the things in it, each once. Sets of one side may share things; an empty set stands alone.
/// Groups stand in the order of their first set: first all that have sets of `a`, then those of `b` alone.
std::vector<SetGroup> groupSets(std::span<const std::vector<std::uint32_t>> a,
                                std::span<const std::vector<std::uint32_t>> b);

}  // namespace fusescope
