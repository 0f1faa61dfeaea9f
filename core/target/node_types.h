#pragma once

#include <vector>

#include "ir/graph.h"

namespace fusescope {

/// The types of a node's inputs and outputs, by position, with element types that differ from those in the graph.
struct NodeTypes {
  std::vector<TensorType> storage;
  std::vector<const TensorType*> inputs, outputs;  ///< null if absent
};

/// Returns the types of a node, where `typeOf(value)` is the element type of a value. The time is linear in the number
/// of operands.
template <class TypeOf>
NodeTypes typesOf(const Graph& graph, const Node& node, const TypeOf& typeOf) {
  NodeTypes types;
  types.storage.reserve(node.inputs.size() + node.outputs.size());
  const auto add = [&](const std::vector<ValueId>& values, std::vector<const TensorType*>& pointers) {
    for (ValueId value : values) {
      if (!value.valid()) {
        pointers.push_back(nullptr);
        continue;
      }
      types.storage.push_back(graph.value(value).type);
      types.storage.back().dtype = typeOf(value);
      pointers.push_back(&types.storage.back());
    }
  };
  add(node.inputs, types.inputs);
  add(node.outputs, types.outputs);
  return types;
}

}  // namespace fusescope
