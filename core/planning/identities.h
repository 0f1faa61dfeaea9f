#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "ir/model.h"

namespace fusescope {

/// Computes FusedNode::identity for kernels of a model. The identity depends only on the nodes, not on whether a plan
/// or another compiler says that they are one kernel.
class Identities {
 public:
  explicit Identities(const Model& model);
  /// Returns the identity of a kernel of `nodes`, which are in graph order. `origins` are their origins, ascending and
  /// without duplicates.
  Hash128 of(const std::vector<NodeId>& nodes, const std::vector<OriginId>& origins) const;

 private:
  const Model& m_model;
  std::vector<std::uint32_t> m_nodesOfOrigin;  ///< by OriginId: how many nodes replace it
};

}  // namespace fusescope
