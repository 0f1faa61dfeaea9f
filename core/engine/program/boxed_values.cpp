#include "engine/program/boxed_values.h"

#include <algorithm>

#include "ir/graph.h"

namespace fusescope {
namespace {

std::string whyBoxed(const Graph& graph, const TensorType& type, ValueId value) {
  const std::string named = "'" + graph.value(value).name + "' ";
  if (type.container != Container::None) return named + "is " + type.text();
  if (type.dtype == DataType::String || graph.isConstant(value)) return named + "is text";
  return named + "has extents that depend on data";
}

}  // namespace

bool isBoxed(const Graph& graph, const std::vector<TensorType>& types, ValueId value) {
  if (graph.isConstant(value)) return graph.value(value).constant->type() == DataType::String;
  const TensorType& type = types[value.index];
  return type.container != Container::None || type.dtype == DataType::String || type.dtype == DataType::Undefined ||
         !type.shape.fixed();
}

std::optional<std::string> whyDynamic(const Graph& graph, const std::vector<TensorType>& types,
                                      const FusedNode& fused) {
  for (const NodeId id : fused.nodes) {
    const Node& node = graph.node(id);
    if (hasBody(node)) return "node '" + node.name + "' has a body";
    std::vector<ValueId> values = operands(node);
    values.insert(values.end(), node.outputs.begin(), node.outputs.end());
    for (const ValueId value : values)
      if (value.valid() && isBoxed(graph, types, value)) return whyBoxed(graph, types[value.index], value);
  }
  return std::nullopt;
}

}  // namespace fusescope
