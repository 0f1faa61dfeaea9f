#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fusescope {

/// A group of sets of both sides that are connected by common elements, directly or through other sets: the smallest
/// group whose sets on the two sides cover the same elements, as far as both sides cover them.
struct SetGroup {
  std::vector<std::uint32_t> a, b;  ///< ascending indices into the lists of sets
  /// True if both sides have the same sets, each equally often. If no two sets of one side share an element, the sets
  /// correspond one to one: b[i] then has exactly the elements of a[i] and is stored in that order.
  bool same = false;
};

/// Groups the sets of both sides. A set lists its elements without duplicates. Sets of one side may have common
/// elements; an empty set is in a group of its own. Groups are ordered by their first set: first those with sets of
/// `a`, then those with sets of `b` only.
std::vector<SetGroup> groupSets(std::span<const std::vector<std::uint32_t>> a,
                                std::span<const std::vector<std::uint32_t>> b);

}  // namespace fusescope
