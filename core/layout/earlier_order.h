#pragma once

#include <utility>
#include <vector>

#include "layout/hierarchy.h"

namespace fusescope {

/// The order from left to right that things had in the earlier picture. It knows nothing of levels that were not in
/// that picture.
class EarlierOrder {
 public:
  explicit EarlierOrder(const std::vector<Level>& levels) : m_levels(levels) {}

  bool isKnown(int level, int node) const;
  bool isKept(int level, const std::vector<int>& rank) const;
  /// Permutes the known nodes of the rank among their positions, so that they are in their earlier order.
  void arrange(int level, std::vector<int>& rank) const;
  /// Makes the keys of the known nodes, given as pairs (key, node), ascend in their earlier order: keys that descend
  /// are replaced by their mean.
  void makeAscending(int level, std::vector<std::pair<double, int>>& keyed) const;

 private:
  double middle(int level, int node) const;

  const std::vector<Level>& m_levels;
};

}  // namespace fusescope
