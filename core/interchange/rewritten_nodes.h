#pragma once

#include <functional>
#include <optional>
#include <set>

#include "base/ids.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

class Graph;
struct Node;

/// Nodes of a file that are removed, and the nodes of the graph that normalisation made from them, which replace them.
struct RewrittenNodes {
  std::set<std::size_t> places;         ///< indices in the file
  std::set<NodeId> nodes;               ///< nodes of the graph
  std::set<std::string> removedValues;  ///< results of the removed nodes
};

/// Determines what must be rewritten so that the nodes `wanted`, which normalisation changed, can be written into
/// `file`: all nodes of the graph that come from the same nodes of the file, and those that make values which the file
/// does not have. `placeOf` returns the index in the file of the node that an origin names. Errors: a node that has a
/// body, or that makes a value which the rest of the file reads and normalisation removed.
Result<RewrittenNodes> rewrittenNodes(const Graph& graph, const onnxlib::FileGraph& file,
                                      const std::set<NodeId>& wanted,
                                      const std::function<std::optional<std::size_t>(OriginId)>& placeOf);

/// Converts `node`, which is in the form of the newest opset, to a node of a file; the caller sets the names of values.
onnxlib::FileNode fileNode(const Node& node);
/// Returns the lowest opset from `opset` on at which `node`, with the values that it reads, has the meaning of the
/// newest opset.
std::int64_t opsetOf(const onnxlib::FileNode& node, std::int64_t opset);

}  // namespace fusescope
