#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "onnxlib/onnxlib.h"

namespace fusescope {

/// The names of all values that nodes and outputs of `graph` read, in its bodies too.
std::unordered_set<std::string_view> namesRead(const onnxlib::FileGraph& graph);

/// Indices of the nodes that stand before a node whose output they read, in their order.
std::vector<std::size_t> nodesBeforeWhatTheyRead(const onnxlib::FileGraph& graph);

/// Indices of all nodes, each after those whose outputs it reads; else in the order of the file. Nodes of a cycle come
/// last: that there is one is said where the graph is verified.
std::vector<std::size_t> runningOrder(const onnxlib::FileGraph& graph);

}  // namespace fusescope
