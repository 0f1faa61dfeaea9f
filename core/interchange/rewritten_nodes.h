#pragma once

#include <functional>
#include <optional>
#include <set>

#include "ir/graph.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// Nodes of a file that go, and the nodes of the graph that normalisation made of them, which take their place.
struct RewrittenNodes {
  std::set<std::size_t> places;      ///< in the file's list
  std::set<NodeId> nodes;            ///< of the graph
  std::set<std::string> goneValues;  ///< what the nodes at `places` made
};

/// What must be written anew so that the nodes `wanted` stand in `file`, which normalisation made something else of:
/// all nodes of the graph that stand for the same nodes of the file, and those that make what the file has no value of.
/// `placeOf` says where the file has the node that an origin names. Errors: a node that has a body, or that makes what
/// the rest of the file reads and normalisation left nothing of.
Result<RewrittenNodes> rewrittenNodes(const Graph& graph, const onnxlib::FileGraph& file,
                                      const std::set<NodeId>& wanted,
                                      const std::function<std::optional<std::size_t>(OriginId)>& placeOf);

/// `node`, which is in the form of the newest opset, as a file has it; names of values are the caller's to fill in.
onnxlib::FileNode fileNode(const Node& node);
/// The least opset from `opset` on at which `node`, with the values that it reads, means what it means at the newest.
std::int64_t opsetOf(const onnxlib::FileNode& node, std::int64_t opset);

}  // namespace fusescope
