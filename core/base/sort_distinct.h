#pragma once

#include <algorithm>
#include <functional>
#include <vector>

namespace fusescope {

/// Sorts `items` and removes duplicates. `before` must order any two items that differ.
template <typename T, typename Before = std::less<>>
void sortDistinct(std::vector<T>& items, Before before = {}) {
  std::sort(items.begin(), items.end(), before);
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

}  // namespace fusescope
