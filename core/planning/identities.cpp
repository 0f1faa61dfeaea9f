#include "planning/identities.h"

#include <algorithm>

#include "base/hash.h"

namespace fusescope {

Identities::Identities(const Model& model) : m_model(model), m_nodesOfOrigin(model.origins.size(), 0) {
  for (const NodeId node : model.graph->order())
    for (const OriginId origin : model.graph->node(node).origins) ++m_nodesOfOrigin[origin.index];
}

/// Of the origins. Nodes that no origin, or one of several nodes, stands for are told apart by their own names: what
/// one node of the file became may run as several kernels.
Hash128 Identities::of(const std::vector<NodeId>& nodes, const std::vector<OriginId>& origins) const {
  KeyBuilder key;
  for (const OriginId origin : origins) key.text(m_model.origins[origin.index].name);
  for (const NodeId id : nodes) {
    const Node& node = m_model.graph->node(id);
    const auto own = [&](OriginId origin) { return m_nodesOfOrigin[origin.index] == 1; };
    if (std::ranges::none_of(node.origins, own)) key.number(char{0}).text(node.name);
  }
  return key.hash();
}

}  // namespace fusescope
