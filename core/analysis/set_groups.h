#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fusescope {

/// A group of sets of both sides that are connected by common elements, directly or through other sets: the smallest
/// group whose sets on the two sides cover the same elements, as far as both sides cover them.
struct SetGroup {
  std::vector<std::uint32_t> a, b;  ///< places in the lists of sets, ascending
  /// True if both sides have the same sets, each equally often. If no two sets of one side share an element, the sets
  /// correspond one to one: b[i] then has exactly the elements of a[i] and is stored in that order.
  bool same = false;
};

/// A set is the numbers of the things in it, each once. Sets of one side may share things; an empty set stands alone.
/// Groups stand in the order of their first set: first all that have sets of `a`, then those of `b` alone.
std::vector<SetGroup> groupSets(std::span<const std::vector<std::uint32_t>> a,
                                std::span<const std::vector<std::uint32_t>> b);

}  // namespace fusescope
