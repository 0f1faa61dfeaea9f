#pragma once

#include <functional>
#include <span>
#include <string>

#include "ir/graph.h"

namespace fusescope {

/// A set of nodes and how its values stand, for a key of its structure.
struct RegionContent {
  const Graph* graph = nullptr;
  std::span<const NodeId> nodes;  ///< graph order
  /// Everything about a value that a kernel depends on besides its content: type, extents, layout, whether it is real.
  /// Asked for every value of the region, constants included.
  std::function<std::string(ValueId)> describe;
  std::string context;  ///< what holds for the whole region: compute and accumulate types
};

/// Whether a constant is a part of what a region does, as axes, shapes and scales are, and no weight of it.
bool isStructural(const Tensor& constant);

/// Canonical bytes of a region up to weights: operators, attributes, wiring, the description of each value, and the
/// content of structural constants (integers and bools of at most 64 elements, scalars of any type: axes, shapes,
/// scales). Names, ids and the data of larger constants do not count, so equal blocks of a network have equal keys.
std::string structuralKey(const RegionContent& region);

/// Canonical bytes of a node's operator and attributes.
std::string operatorKey(const Node& node);

}  // namespace fusescope
