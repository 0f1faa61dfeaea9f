#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "planning/cover.h"

namespace fusescope {

/// The kernels of both plans that one fused node of the union represents, as indices of fused nodes of each side.
struct UnionGroup {
  std::vector<std::uint32_t> a, b;
  bool same = false;  ///< both sides have the same kernels; their types may differ
};

/// The union of two networks, or of two bodies of matched holders.
struct UnionLevel {
  const Cover* cover = nullptr;             ///< the union itself
  const Cover* a = nullptr;                 ///< null: A has no plan of this body
  const Cover* b = nullptr;                 ///< null: B has no plan of this body
  std::vector<NodeId> nodeOfA, nodeOfB;     ///< for each NodeId of that side, the node of the union that represents it
  std::vector<ValueId> valueOfA, valueOfB;  ///< for each ValueId of that side, the value of the union that represents
                                            ///< it; invalid: none
  std::vector<UnionGroup> groups;           ///< in the order of the fused nodes of `cover`
};

}  // namespace fusescope
