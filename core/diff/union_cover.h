#pragma once

#include <memory>
#include <vector>

#include "diff/union_level.h"

namespace fusescope {

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
