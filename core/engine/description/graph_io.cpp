#include "engine/description/graph_io.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>
#include "base/json.h"
#include "engine/description/damaged.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr int kDeepest = 32;

constexpr std::array<std::pair<Container, std::string_view>, 3> kContainers{
    {{Container::Sequence, "sequence"},
     {Container::Optional, "optional"},
     {Container::OptionalSequence, "optional_sequence"}}};

std::string_view containerName(Container container) {
  return std::ranges::find(kContainers, container, &std::pair<Container, std::string_view>::first)->second;
}

std::optional<Container> containerFromName(std::string_view name) {
  const auto found = std::ranges::find(kContainers, name, &std::pair<Container, std::string_view>::second);
  return found == kContainers.end() ? std::nullopt : std::optional(found->first);
}

// ---- writing

Json idsToJson(const auto& ids) {
  Json json = Json::array();
  for (const auto id : ids) json.push_back(id.valid() ? static_cast<std::int64_t>(id.index) : -1);
  return json;
}

Json shapeToJson(const Shape& shape) {
  if (!shape.ranked) return nullptr;
  Json json = Json::array();
  for (const Dim& dim : shape.dims) {
    if (dim.known()) {
      json.push_back(dim.size);
    } else if (!dim.symbol.empty()) {
      json.push_back(dim.symbol);
    } else {
      json.push_back(nullptr);
    }
  }
  return json;
}

/// Floats are written as their bits, so that each of them is read back exactly.
struct AttributeToJson {
  WeightBlobWriter& weights;
  Json operator()(std::int64_t value) const { return {{"int", value}}; }
  Json operator()(float value) const { return {{"float", std::bit_cast<std::uint32_t>(value)}}; }
  Json operator()(const std::string& value) const { return {{"text", value}}; }
  Json operator()(const std::vector<std::int64_t>& values) const { return {{"ints", values}}; }
  Json operator()(const std::vector<float>& values) const {
    Json bits = Json::array();
    for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
    return {{"floats", bits}};
  }
  Json operator()(const std::vector<std::string>& values) const { return {{"texts", values}}; }
  Json operator()(const Tensor& value) const { return {{"tensor", weights.add(value)}}; }
  Json operator()(const Subgraph& value) const {
    return {{"graph", graphToJson(*value.graph, weights)}, {"captures", idsToJson(value.captures)}};
  }
};

Json valueToJson(const Value& value, WeightBlobWriter& weights) {
  Json json{{"name", value.name}, {"type", name(value.type.dtype)}, {"dims", shapeToJson(value.type.shape)}};
  if (value.type.container != Container::None) json["container"] = containerName(value.type.container);
  if (value.constant) json["constant"] = weights.add(*value.constant);
  return json;
}

Json nodeToJson(const Node& node, WeightBlobWriter& weights) {
  Json json{{"name", node.name}, {"op", node.op}};
  if (!node.domain.empty()) json["domain"] = node.domain;
  json["inputs"] = idsToJson(node.inputs);
  json["outputs"] = idsToJson(node.outputs);
  json["origins"] = idsToJson(node.origins);
  if (node.attributes.empty()) return json;
  Json attributes = Json::object();
  for (const auto& [key, value] : node.attributes) attributes[key] = std::visit(AttributeToJson{weights}, value);
  json["attributes"] = std::move(attributes);
  return json;
}

// ---- reading

template <class IdType>
Result<std::vector<IdType>> idsFromJson(const Json& json, std::size_t limit) {
  std::vector<IdType> ids;
  for (const Json& entry : json) {
    const auto index = entry.get<std::int64_t>();
    if (index == -1) {
      ids.emplace_back();
      continue;
    }
    if (index < 0 || static_cast<std::uint64_t>(index) >= limit) return damaged("an id is out of range");
    ids.emplace_back(static_cast<std::size_t>(index));
  }
  return ids;
}

Result<TensorType> typeFromJson(const Json& json) {
  const auto dtype = dataTypeFromName(json.at("type").get<std::string>());
  if (!dtype && json.at("type") != "undefined") return damaged("a value has an unknown type");
  TensorType type{.dtype = dtype.value_or(DataType::Undefined)};
  if (json.contains("container")) {
    const auto container = containerFromName(json.at("container").get<std::string>());
    if (!container) return damaged("a value is of an unknown kind");
    type.container = *container;
  }
  const Json& dims = json.at("dims");
  if (dims.is_null()) return type;
  type.shape.ranked = true;
  for (const Json& dim : dims) {
    if (dim.is_null()) {
      type.shape.dims.emplace_back();
    } else if (dim.is_string()) {
      type.shape.dims.push_back(Dim::named(dim.get<std::string>()));
    } else {
      const auto size = dim.get<std::int64_t>();
      if (size < 0) return damaged("a value has a negative extent");
      type.shape.dims.emplace_back(size);
    }
  }
  return type;
}

class GraphReader {
 public:
  GraphReader(const Json& json, const WeightBlobReader& weights, int depth)
      : m_json(json), m_weights(weights), m_depth(depth) {}

  Result<std::shared_ptr<const Graph>> read() {
    if (m_depth > kDeepest) return damaged("bodies of control flow are nested too deep");
    m_editor.setName(m_json.at("name").get<std::string>());
    m_valueCount = m_json.at("values").size();
    m_inputs = TRY(idsFromJson<ValueId>(m_json.at("inputs"), m_valueCount));
    for (const Json& value : m_json.at("values")) TRY(addValue(value));
    for (const ValueId input : m_inputs)
      if (!m_editor.current().has(input)) return damaged("an input does not exist");
    m_editor.setInputs(m_inputs);
    for (const Json& node : m_json.at("nodes")) TRY(addNode(node));
    removeHoles();
    m_editor.setOutputs(TRY(idsFromJson<ValueId>(m_json.at("outputs"), m_valueCount)));
    return m_editor.publish();
  }

 private:
  Status addValue(const Json& json) {
    const ValueId next(m_editor.current().valueIdLimit());
    if (json.is_null()) {
      m_valueHoles.push_back(m_editor.addValue("", {}));
      return Done{};
    }
    const auto wanted = json.at("name").get<std::string>();
    TensorType type = TRY(typeFromJson(json));
    ValueId id;
    if (json.contains("constant")) {
      id = m_editor.addConstant(wanted, TRY(m_weights.read(json.at("constant"))));
      m_editor.setType(id, std::move(type));
    } else if (std::ranges::find(m_inputs, next) != m_inputs.end()) {
      id = m_editor.addInput(wanted, std::move(type));
    } else {
      id = m_editor.addValue(wanted, std::move(type));
    }
    if (m_editor.current().value(id).name != wanted) return damaged("two values are called '" + wanted + "'");
    return Done{};
  }

  Status addNode(const Json& json) {
    if (json.is_null()) {
      m_nodeHoles.push_back(m_editor.addNode({}));
      return Done{};
    }
    Node node{.op = json.at("op").get<std::string>(), .name = json.at("name").get<std::string>()};
    if (json.contains("domain")) node.domain = json.at("domain").get<std::string>();
    node.inputs = TRY(idsFromJson<ValueId>(json.at("inputs"), m_valueCount));
    node.outputs = TRY(idsFromJson<ValueId>(json.at("outputs"), m_valueCount));
    node.origins = TRY(idsFromJson<OriginId>(json.at("origins"), UINT32_MAX));
    for (const ValueId output : node.outputs)
      if (output.valid() && m_editor.current().value(output).producer.valid())
        return damaged("two nodes make one value");
    if (json.contains("attributes"))
      for (const auto& [key, value] : json.at("attributes").items()) node.attributes[key] = TRY(attribute(value));
    const std::string wanted = node.name;
    const NodeId id = m_editor.addNode(std::move(node));
    if (m_editor.current().node(id).name != wanted) return damaged("two nodes are called '" + wanted + "'");
    return Done{};
  }

  Result<Attribute> attribute(const Json& json) {
    if (json.contains("int")) return Attribute(json.at("int").get<std::int64_t>());
    if (json.contains("float")) return Attribute(std::bit_cast<float>(json.at("float").get<std::uint32_t>()));
    if (json.contains("text")) return Attribute(json.at("text").get<std::string>());
    if (json.contains("ints")) return Attribute(json.at("ints").get<std::vector<std::int64_t>>());
    if (json.contains("texts")) return Attribute(json.at("texts").get<std::vector<std::string>>());
    if (json.contains("tensor")) return Attribute(TRY(m_weights.read(json.at("tensor"))));
    if (json.contains("floats")) {
      std::vector<float> values;
      for (const Json& bits : json.at("floats")) values.push_back(std::bit_cast<float>(bits.get<std::uint32_t>()));
      return Attribute(std::move(values));
    }
    Subgraph body{.graph = TRY(graphFromJson(json.at("graph"), m_weights, m_depth + 1))};
    body.captures = TRY(idsFromJson<ValueId>(json.at("captures"), m_valueCount));
    return Attribute(std::move(body));
  }

  void removeHoles() {
    for (const NodeId hole : m_nodeHoles) m_editor.removeNode(hole);
    for (const ValueId hole : m_valueHoles) m_editor.removeValue(hole);
  }

  const Json& m_json;
  const WeightBlobReader& m_weights;
  int m_depth;
  GraphEditor m_editor;
  std::size_t m_valueCount = 0;
  std::vector<ValueId> m_inputs;
  std::vector<ValueId> m_valueHoles;
  std::vector<NodeId> m_nodeHoles;
};

}  // namespace

Json graphToJson(const Graph& graph, WeightBlobWriter& weights) {
  Json values = Json::array(), nodes = Json::array();
  for (std::size_t i = 0; i < graph.valueIdLimit(); ++i)
    values.push_back(graph.has(ValueId(i)) ? valueToJson(graph.value(ValueId(i)), weights) : Json());
  for (std::size_t i = 0; i < graph.nodeIdLimit(); ++i)
    nodes.push_back(graph.has(NodeId(i)) ? nodeToJson(graph.node(NodeId(i)), weights) : Json());
  return {{"name", graph.name()},
          {"inputs", idsToJson(graph.inputs())},
          {"outputs", idsToJson(graph.outputs())},
          {"values", std::move(values)},
          {"nodes", std::move(nodes)}};
}

Result<std::shared_ptr<const Graph>> graphFromJson(const Json& json, const WeightBlobReader& weights, int depth) {
  return GraphReader(json, weights, depth).read();
}

}  // namespace fusescope
