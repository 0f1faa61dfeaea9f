#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/ids.h"
#include "ir/tensor.h"

namespace fusescope {

class Graph;
struct Node;

/// A set of nodes, and a description of its values, from which a key of its structure is made.
struct RegionContent {
  const Graph* graph = nullptr;
  std::span<const NodeId> nodes;  ///< graph order
  /// Returns everything on which a kernel depends for a value, except its content: type, extents, memory format,
  /// whether it is real. It is called for every value of the region, including constants.
  std::function<std::string(ValueId)> describe;
  std::string context;  ///< properties of the whole region: compute and accumulate types
};

/// Returns whether a constant determines what a region does (axes, shapes, scales) and is not a weight.
bool isStructural(const Tensor& constant);

/// Returns the canonical bytes of a region without its weights: operators, attributes, connections, the description of
/// each value, and the content of structural constants (integers and bools of at most 64 elements, and scalars of any
/// type). Names, ids and the data of larger constants are not included, so that equal blocks of a network have equal
/// keys.
std::string structuralKey(const RegionContent& region);

/// Returns the canonical bytes of a node's operator and attributes.
std::string operatorKey(const Node& node);

}  // namespace fusescope
