#pragma once

#include <cstdint>
#include <memory>
#include <vector>

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

/// Two plans as one cover, so that one layout can be used for both. Its graph contains the nodes of A, then those that
/// only B has. Its fused nodes are the smallest groups of kernels that cover the same nodes on both sides. It is
/// immutable.
struct UnionCover {
  std::shared_ptr<const Cover> a, b;
  std::shared_ptr<const Cover> cover;
  bool oneGraph = true;            ///< both sides have the same nodes, so that the graph is that of A
  std::vector<UnionLevel> levels;  ///< the network first, then bodies, each after the level that surrounds it
};

/// Makes the union. It is a pure function and may run on any thread; its time is about linear in the edges. An edge
/// that only B has between nodes of A is included unless the union would get a cycle; in that case all such edges are
/// omitted.
Result<UnionCover> unionCover(std::shared_ptr<const Cover> a, std::shared_ptr<const Cover> b);

}  // namespace fusescope
