#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fusescope {

/// A part of a sequence that repeats `times` times without gaps.
struct RepeatedStretch {
  std::size_t begin = 0;   ///< index of its first element
  std::size_t length = 0;  ///< length of one repetition
  std::size_t times = 0;   ///< at least 2
  std::size_t end() const { return begin + length * times; }
  bool operator==(const RepeatedStretch&) const = default;
};

/// Finds the stretches of `keys` in which a part of `least` to `most` elements repeats. The results do not overlap.
/// Stretches that cover more elements take precedence, then those with the shorter part, then those that begin earlier.
/// The results are ordered by their beginnings. The time is proportional to keys × most.
std::vector<RepeatedStretch> repeatedStretches(std::span<const std::uint32_t> keys, std::size_t least,
                                               std::size_t most);

}  // namespace fusescope
