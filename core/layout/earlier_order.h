#pragma once

#include <utility>
#include <vector>

#include "layout/hierarchy.h"

namespace fusescope {

/// The order, from left to right, of what stood in the picture that a new one comes of. Knows nothing of levels without
/// such a picture.
class EarlierOrder {
 public:
  explicit EarlierOrder(const std::vector<Level>& levels) : m_levels(levels) {}

  bool isKnown(int level, int node) const;
  bool isKept(int level, const std::vector<int>& rank) const;
  /// Those of the rank that are known change places among themselves, so that they stand in their order.
  void arrange(int level, std::vector<int>& rank) const;
  /// Makes the keys (key, node) of those that are known rise in their order: keys that fall become their mean.
  void raise(int level, std::vector<std::pair<double, int>>& keyed) const;

 private:
  double middle(int level, int node) const;

  const std::vector<Level>& m_levels;
};

}  // namespace fusescope
