#pragma once

#include <cstdint>
#include <vector>

#include "ir/model.h"

namespace fusescope {

/// What the kernels of a model are known by, whoever says that they are kernels: FusedNode::identity.
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
