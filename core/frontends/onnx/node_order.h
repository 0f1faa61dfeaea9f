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

/// Calls `visit` with the name of each value that nodes and outputs of `graph` read, in their bodies too; with some of
/// them several times.
template <class Visit>
void forEachRead(const onnxlib::FileGraph& graph, const Visit& visit);

/// The same with what `node` reads.
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

/// The names of all values that nodes and outputs of `graph` read, in its bodies too.
std::unordered_set<std::string_view> namesRead(const onnxlib::FileGraph& graph);

/// Indices of the nodes that stand before a node whose output they read, in their order.
std::vector<std::size_t> nodesBeforeWhatTheyRead(const onnxlib::FileGraph& graph);

/// Indices of all nodes, each after those whose outputs it reads; else in the order of the file. Nodes of a cycle come
/// last: that there is one is said where the graph is verified.
std::vector<std::size_t> runningOrder(const onnxlib::FileGraph& graph);

}  // namespace fusescope
