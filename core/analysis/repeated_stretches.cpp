#include "analysis/repeated_stretches.h"

#include <algorithm>

namespace fusescope {

namespace {

/// Adds stretches of parts of `length` elements, each as long as possible, anywhere in `keys`.
void addStretches(std::vector<RepeatedStretch>& found, std::span<const std::uint32_t> keys, std::size_t length) {
  std::size_t equal = 0;  // number of elements before `i` that equal the element one part later
  for (std::size_t i = 0; i + length <= keys.size(); ++i) {
    const bool same = i + length < keys.size() && keys[i] == keys[i + length];
    if (same) {
      ++equal;
      continue;
    }
    if (equal >= length) found.push_back({.begin = i - equal, .length = length, .times = equal / length + 1});
    equal = 0;
  }
}

}  // namespace

std::vector<RepeatedStretch> repeatedStretches(std::span<const std::uint32_t> keys, std::size_t least,
                                               std::size_t most) {
  std::vector<RepeatedStretch> found;
  for (std::size_t length = std::max<std::size_t>(least, 1); length <= std::min(most, keys.size() / 2); ++length)
    addStretches(found, keys, length);
  std::stable_sort(found.begin(), found.end(), [](const RepeatedStretch& a, const RepeatedStretch& b) {
    return a.length * a.times > b.length * b.times;
  });
  std::vector<bool> taken(keys.size(), false);
  std::vector<RepeatedStretch> chosen;
  for (const RepeatedStretch& stretch : found) {
    const auto begin = taken.begin() + static_cast<std::ptrdiff_t>(stretch.begin);
    const auto end = taken.begin() + static_cast<std::ptrdiff_t>(stretch.end());
    if (std::find(begin, end, true) != end) continue;
    std::fill(begin, end, true);
    chosen.push_back(stretch);
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const RepeatedStretch& a, const RepeatedStretch& b) { return a.begin < b.begin; });
  return chosen;
}

}  // namespace fusescope
