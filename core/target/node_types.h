#pragma once

#include <vector>

#include "ir/graph.h"

namespace fusescope {

/// The types of a node's inputs and outputs with other element types than the graph's, by position.
struct NodeTypes {
  std::vector<TensorType> storage;
  std::vector<const TensorType*> inputs, outputs;  ///< null for what is absent
};

/// `typeOf(value)` is the element type of a value. Linear in the node's operands.
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
