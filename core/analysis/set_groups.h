#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fusescope {

/// Sets of the two sides that have things in common, directly or through sets of the other side: the smallest group
/// that covers the same things on both.
struct SetGroup {
  std::vector<std::uint32_t> a, b;  ///< places in the lists of sets, ascending
  /// Whether it is one set on each side with just the same things.
  bool same = false;
};

/// A set is the numbers of the things in it, each once; the sets of one side share none. Groups stand in the order of
/// their first set: first all that have sets of `a`, then those of `b` alone.
std::vector<SetGroup> groupSets(std::span<const std::vector<std::uint32_t>> a,
                                std::span<const std::vector<std::uint32_t>> b);

}  // namespace fusescope
