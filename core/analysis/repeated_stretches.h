#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fusescope {

/// A stretch of a sequence that is the same part `times` times, one behind the other.
struct RepeatedStretch {
  std::size_t begin = 0;   ///< index of its first element
  std::size_t length = 0;  ///< of one part
  std::size_t times = 0;   ///< at least 2
  std::size_t end() const { return begin + length * times; }
  bool operator==(const RepeatedStretch&) const = default;
};

/// Stretches of `keys` in which a part of `least` to `most` elements is repeated; none overlaps another. Those that
/// cover most are taken first, of those that cover the same the one of the shorter part, then the earlier one. In the
/// order of their beginnings. Takes time in proportion to keys × most.
std::vector<RepeatedStretch> repeatedStretches(std::span<const std::uint32_t> keys, std::size_t least,
                                               std::size_t most);

}  // namespace fusescope
