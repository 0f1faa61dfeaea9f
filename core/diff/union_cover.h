#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "planning/cover.h"

namespace fusescope {

/// The kernels of both plans that one fused node of the union stands for, as places in the fused nodes of each side.
struct UnionGroup {
  std::vector<std::uint32_t> a, b;
  bool same = false;  ///< both sides have the same kernels here; their types may differ all the same
};

/// The union of two networks, or of two bodies of matched holders.
struct UnionLevel {
  const Cover* cover = nullptr;             ///< the union itself
  const Cover* a = nullptr;                 ///< null: A has no plan of this body
  const Cover* b = nullptr;                 ///< null: B has none
  std::vector<NodeId> nodeOfA, nodeOfB;     ///< by NodeId of that side: the node of the union that stands for it
  std::vector<ValueId> valueOfA, valueOfB;  ///< by ValueId of that side, likewise; invalid: nothing in the union does
  std::vector<UnionGroup> groups;           ///< as the fused nodes of `cover`
};

/// Two plans as one cover, so that one layout serves both. Its graph has the nodes of A, then those that B alone has.
/// Its fused nodes are the smallest groups of kernels that cover the same nodes on both sides. Immutable.
struct UnionCover {
  std::shared_ptr<const Cover> a, b;
  std::shared_ptr<const Cover> cover;
  bool oneGraph = true;            ///< both sides have the same nodes: the graph is that of A
  std::vector<UnionLevel> levels;  ///< the network first, then bodies, each behind what is around it
};

/// Pure; any thread. Time is about linear in the edges. An edge that B alone has between nodes of A is part of the
/// union unless the union would have a cycle by it; then all such edges are left out.
Result<UnionCover> unionCover(std::shared_ptr<const Cover> a, std::shared_ptr<const Cover> b);

}  // namespace fusescope
