#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "diff/matched_by.h"
#include "ir/model.h"

namespace fusescope {

class Graph;

/// The corresponding nodes and values of two networks, A and B. The correspondence is symmetric.
struct NetworkMatch {
  std::vector<NodeId> nodeOfB;       ///< for each NodeId of A; invalid: it has no counterpart
  std::vector<NodeId> nodeOfA;       ///< for each NodeId of B
  std::vector<MatchedBy> how;        ///< for each NodeId of A
  std::vector<ValueId> valueOfB;     ///< for each ValueId of A, including constants that matched nodes read
  std::vector<ValueId> valueOfA;     ///< for each ValueId of B
  std::vector<NodeId> onlyA, onlyB;  ///< nodes without a counterpart, in graph order
  std::vector<NodeId> changed;       ///< nodes of A whose counterpart has other attributes or other types of constants

  std::int64_t count(MatchedBy by) const;
};

/// Returns `model`, or the model from which a plan quantised it.
const Model& unquantizedModel(const Model& model);

/// Matches two networks. Graphs that contain the same nodes with the same ids are matched by ids. Otherwise nodes are
/// matched by name if their operators are alike and more neighbours agree than contradict. The rest is matched by
/// structure: by what a node is calculated from, from the inputs on, and by what is calculated from it, up to the
/// outputs; first in the whole network, then within a few steps, then along the edges of matched nodes. Elements of
/// weights and names are ignored in this. A changed node is matched if its position says so. If edges remain that do
/// not agree, structure alone is tried as well, and used if it matches more nodes or clearly more edges agree.
/// If options inserted quantised codes into one or both networks, the networks before that are matched in this way, and
/// the nodes for codes by name and along the edges.
/// The function is deterministic, and its time is about linear in the edges. Bodies are separate graphs; their holders
/// are matched by operator.
NetworkMatch matchNetworks(const Model& a, const Model& b);

/// Returns for people what differs between the networks in a matched node: "attribute pads, operand 1: f32[8] and
/// f32[16]".
std::string changeText(const Graph& a, NodeId nodeOfA, const Graph& b, NodeId nodeOfB);

}  // namespace fusescope
