#include <algorithm>

#include "base/text.h"
#include "ops/op_schema.h"
#include "target/target.h"
#include "target/tensorrt_operators.h"

namespace fusescope {

namespace {

/// One type that stands in a node's way: of which value, and which type.
struct Obstacle {
  std::string value;
  TensorType type;
};

struct ValidateRequest {
  const Target& target;
  const Graph& graph;
  const Node& node;
  std::span<const TensorType* const> inputs;
  std::span<const TensorType* const> outputs;
};

template <class Refused>
std::optional<Obstacle> firstObstacle(const ValidateRequest& request, const Refused& refused) {
  const auto scan = [&](std::span<const TensorType* const> types,
                        const std::vector<ValueId>& values) -> std::optional<Obstacle> {
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i] == nullptr || (types[i]->container == Container::None && !refused(types[i]->dtype))) continue;
      const bool named = i < values.size() && request.graph.has(values[i]);
      return Obstacle{named ? request.graph.value(values[i]).name : "", *types[i]};
    }
    return std::nullopt;
  };
  if (auto found = scan(request.inputs, request.node.inputs)) return found;
  return scan(request.outputs, request.node.outputs);
}

Decision verdict(const ValidateRequest& request, std::string_view code, Json arguments = Json::object()) {
  arguments["op"] = request.node.op;
  arguments["target"] = request.target.name;
  return decide(code, {Subject::node(request.node.name)}, request.target.name, std::move(arguments));
}

Decision typeRefused(const ValidateRequest& request, const Obstacle& obstacle) {
  if (obstacle.type.dtype == DataType::Undefined && obstacle.type.container == Container::None) {
    return verdict(request, "validate.type_unknown", {{"value", obstacle.value}});
  }
  return verdict(request, "validate.type_not_supported",
                 {{"type", containerText(obstacle.type.container, std::string(name(obstacle.type.dtype)))},
                  {"value", obstacle.value}});
}

Decision validateForCpu(const ValidateRequest& request) {
  const OpSchema* schema = OpRegistry::standard().find(request.node);
  if (hasBody(request.node)) return verdict(request, "validate.control_flow");
  if (schema == nullptr || !schema->kernel) return verdict(request, "validate.no_kernel");
  const auto refused = [](DataType type) {
    return type == DataType::Undefined || type == DataType::String || type == DataType::C64 || type == DataType::C128;
  };
  if (auto obstacle = firstObstacle(request, refused)) return typeRefused(request, *obstacle);
  return verdict(request, "validate.supported");
}

bool tensorrtLacks(const Target& target, DataType type) {
  switch (type) {
    case DataType::F64:
      return target.lacksFloat64;
    case DataType::I64:
      return target.lacksInt64;
    case DataType::BF16:
      return !target.computeTypes.contains(DataType::BF16);
    case DataType::F8E4M3:
    case DataType::I4:
      return target.name == "tensorrt-8";
    case DataType::F32:
    case DataType::F16:
    case DataType::I32:
    case DataType::I8:
    case DataType::U8:
    case DataType::Bool:
      return false;
    default:
      return true;
  }
}

/// The first container or text inside the bodies of a node.
std::optional<Obstacle> obstacleInside(const Node& node) {
  for (const auto& [key, attribute] : node.attributes) {
    const auto* body = std::get_if<Subgraph>(&attribute);
    if (body == nullptr) continue;
    for (const ValueId id : body->graph->allValues()) {
      const Value& value = body->graph->value(id);
      if (value.type.container != Container::None || value.type.dtype == DataType::String)
        return Obstacle{value.name, value.type};
    }
    for (const NodeId id : body->graph->order())
      if (auto deeper = obstacleInside(body->graph->node(id))) return deeper;
  }
  return std::nullopt;
}

Decision validateForTensorrt(const ValidateRequest& request) {
  if (!request.node.domain.empty() || !tensorrtParses(request.target.name, request.node.op)) {
    return verdict(request, "validate.operator_not_supported");
  }
  const auto refused = [&](DataType type) { return tensorrtLacks(request.target, type); };
  if (auto obstacle = firstObstacle(request, refused)) return typeRefused(request, *obstacle);
  if (auto obstacle = obstacleInside(request.node)) return typeRefused(request, *obstacle);
  return verdict(request, "validate.supported");
}

}  // namespace

Decision validateNode(const Target& target, const Graph& graph, const Node& node,
                      std::span<const TensorType* const> inputs, std::span<const TensorType* const> outputs) {
  const ValidateRequest request{target, graph, node, inputs, outputs};
  return target.name == "cpu" ? validateForCpu(request) : validateForTensorrt(request);
}

}  // namespace fusescope
