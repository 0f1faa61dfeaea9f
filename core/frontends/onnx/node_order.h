#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope {

/// Calls `visit` with the name of each value that nodes and outputs of `graph` read, including nodes in bodies. A name
/// may be visited several times.
template <class Visit>
void forEachRead(const onnxlib::FileGraph& graph, const Visit& visit);

/// Does the same for the values that `node` reads.
template <class Visit>
void forEachRead(const onnxlib::FileNode& node, const Visit& visit) {
  for (const std::string& input : node.inputs)
    if (!input.empty()) visit(input);
  for (const auto& attribute : node.attributes)
    if (const auto* body = std::get_if<std::shared_ptr<const onnxlib::FileGraph>>(&attribute.value))
      forEachRead(**body, visit);
}

template <class Visit>
void forEachRead(const onnxlib::FileGraph& graph, const Visit& visit) {
  for (const onnxlib::FileNode& node : graph.nodes) forEachRead(node, visit);
  for (const auto& output : graph.outputs) visit(output.name);
}

/// Returns the names of all values that nodes and outputs of `graph` read, including nodes in bodies.
std::unordered_set<std::string_view> namesRead(const onnxlib::FileGraph& graph);

/// Returns the indices of the nodes that precede a node whose output they read, in ascending order.
std::vector<std::size_t> nodesBeforeWhatTheyRead(const onnxlib::FileGraph& graph);

/// Returns the indices of all nodes, each after the nodes whose outputs it reads, and otherwise in the order of the
/// file. The nodes of a cycle come last; the cycle is reported when the graph is verified.
std::vector<std::size_t> runningOrder(const onnxlib::FileGraph& graph);

}  // namespace fusescope
