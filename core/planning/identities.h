#pragma once

#include <cstdint>
#include <vector>

#include "ir/model.h"

namespace fusescope {

/// Computes FusedNode::identity for kernels of a model. The identity depends only on the nodes, not on whether a plan
/// or another compiler says that they are one kernel.
class Identities {
 public:
  explicit Identities(const Model& model);
  /// Of a kernel of `nodes`, in graph order; `origins` are theirs, each once, ascending.
  Hash128 of(const std::vector<NodeId>& nodes, const std::vector<OriginId>& origins) const;

 private:
  const Model& m_model;
  std::vector<std::uint32_t> m_nodesOfOrigin;  ///< by OriginId: how many nodes stand for it
};

}  // namespace fusescope
