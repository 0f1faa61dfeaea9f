#include "planning/identities.h"

#include <algorithm>

#include "base/hash.h"
#include "ir/graph.h"

namespace fusescope {

Identities::Identities(const Model& model) : m_model(model), m_nodesOfOrigin(model.origins.size(), 0) {
  for (const NodeId node : model.graph->order())
    for (const OriginId origin : model.graph->node(node).origins) ++m_nodesOfOrigin[origin.index];
}

/// Hashes the origins. If a node has no origin, or shares its origin with other nodes, its own name is included,
/// because the nodes made of one node of the file may run as several kernels.
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
