#include "interchange/recipes/recipe_pins.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "ops/op_schema.h"

namespace fusescope {
namespace {

/// What TensorRT, Polygraphy and Python call a type: "fp16", "float16", "trt.float16", "DataType.HALF".
std::optional<DataType> typeFromName(std::string_view name) {
  if (const auto dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  if (name == "fp32" || name == "float32" || name == "FLOAT" || name == "f32") return DataType::F32;
  if (name == "fp16" || name == "float16" || name == "HALF" || name == "f16") return DataType::F16;
  if (name == "bf16" || name == "bfloat16" || name == "BF16") return DataType::BF16;
  return std::nullopt;
}

bool holdsFloats(const Graph& graph, const Node& node) {
  const auto isFloats = [&](ValueId value) { return value.valid() && isFloat(graph.value(value).type.dtype); };
  return std::ranges::any_of(node.outputs, isFloats) || std::ranges::any_of(node.inputs, isFloats);
}

/// Returns whether the operator calculates floats here, rather than handing them on.
bool calculatesFloats(const Graph& graph, const Node& node) {
  const OpSchema* schema = OpRegistry::standard().find(node.domain, node.op);
  const bool moves = schema != nullptr && (schema->kind == OpKind::Movement || schema->kind == OpKind::View);
  const bool hasBody = std::ranges::any_of(
      node.attributes, [](const auto& attribute) { return std::holds_alternative<Subgraph>(attribute.second); });
  return !moves && !hasBody && !node.is("Cast") && holdsFloats(graph, node);
}

}  // namespace

RecipePins::RecipePins(const Model& model, const RecipeOptions& options) : m_model(model) {
  for (const Origin& origin : model.origins) m_names.insert(origin.name);
  std::set<std::uint32_t> calculating;
  for (const NodeId id : model.graph->order()) {
    const Node& node = model.graph->node(id);
    for (const OriginId origin : node.origins) {
      if (calculatesFloats(*model.graph, node)) calculating.insert(origin.index);
      if (holdsFloats(*model.graph, node)) m_floats.insert(model.origins[origin.index].name);
    }
  }
  for (const std::uint32_t origin : calculating) {
    m_inOrder.push_back(model.origins[origin].name);
    m_calculating.insert(m_inOrder.back());
  }
  if (!options.layerNames) return;
  m_hasLog = true;
  for (const auto& [node, layers] : registeredLayers(*options.layerNames))
    for (const std::string& layer : layers) m_nodeOfLayer.emplace(layer, node);
}

std::optional<std::string> RecipePins::nodeOf(const std::string& layer, const std::string& entry) {
  if (const auto known = m_nodeOfLayer.find(layer); known != m_nodeOfLayer.end()) {
    if (m_names.contains(known->second)) return known->second;
    refuse(entry, fmt::format("the log says that this layer belongs to node '{}', which the model does not have",
                              known->second));
    return std::nullopt;
  }
  if (!m_hasLog && m_names.contains(layer)) return layer;
  refuse(entry, m_hasLog ? "the log registers no such layer, so TensorRT ignored the entry" : whyUnknown(layer));
  return std::nullopt;
}

std::string RecipePins::whyUnknown(const std::string& layer) const {
  if (layer.find(" + ") != std::string::npos || layer.starts_with("__my") || layer.starts_with("PWN(") ||
      layer.starts_with("{ForeignNode["))
    return "this is the name of a layer of a built engine: TensorRT compares entries with the layers of its network, "
           "which have the names of nodes, and ignored this one";
  for (const char* start : {"reshape_before_", "reshape_after_", "squeeze_after_", "unsqueeze_node_after_"})
    if (layer.starts_with(start))
      return "TensorRT's builder inserted this layer: it only moves an input or output of the node beside it";
  if (layer.starts_with("(Unnamed Layer*") || layer.starts_with("ONNXTRT_"))
    return "TensorRT's parser made this layer, and no node has this name: give --layer-names LOG, a log of trtexec "
           "--verbose, which says to which node it belongs";
  if (const std::string node = otherNode(m_names, layer); !node.empty())
    return fmt::format(
        "no node has this name; it may be another layer of node '{}', as a log of trtexec --verbose can say "
        "(--layer-names LOG)",
        node);
  const std::vector<std::string> near = nearestNames(layer, {m_names.begin(), m_names.end()}, 1);
  return "no node of the model's main graph has this name" +
         (near.empty() ? std::string() : fmt::format("; the nearest is '{}'", near.front()));
}

std::optional<DataType> RecipePins::typeOf(std::string_view typeName, const std::string& entry) {
  if (const auto type = typeFromName(typeName)) return type;
  std::string_view bare = typeName;
  if (const auto dot = bare.rfind('.'); dot != std::string_view::npos) bare.remove_prefix(dot + 1);
  if (bare == "int8" || bare == "INT8")
    refuse(entry,
           "in a strongly typed network, no option makes a node calculate with integers: they come from ranges "
           "(calibrate, or a calibration cache), or from QuantizeLinear and DequantizeLinear in the model");
  else if (bare == "fp8" || bare == "int4" || bare == "fp4")
    refuse(entry, "such codes come from QuantizeLinear and DequantizeLinear in the model, which a quantiser writes");
  else
    refuse(entry,
           fmt::format("'{}' is not a float type in which a layer could calculate; the types of the model are used",
                       typeName));
  return std::nullopt;
}

void RecipePins::pinLayer(const std::string& layer, std::string_view typeName, const std::string& entry) {
  const auto node = nodeOf(layer, entry);
  if (!node) return;
  if (!m_floats.contains(*node)) return refuse(entry, "the node has no floats; the types of the model are used");
  pinCalculating(*node, typeName, entry);
}

void RecipePins::pinCalculating(const std::string& node, std::string_view typeName, const std::string& entry) {
  if (const auto type = typeOf(typeName, entry)) pinNode(node, *type);
}

void RecipePins::leaveOutputs(const std::string& layer, const std::vector<std::string>& typeNames,
                              const std::string& entry) {
  const auto node = nodeOf(layer, entry);
  if (!node) return;
  std::vector<DataType> types;
  for (const std::string& each : typeNames) {
    const auto type = typeOf(each, entry);
    if (!type) return;
    types.push_back(*type);
  }
  if (types.size() == 1) {
    m_outputs.insert_or_assign(*node, Request{types[0], m_next++});
    return;
  }
  const std::vector<std::string> outputs = outputsOf(*node);
  if (outputs.size() != types.size())
    return refuse(entry, fmt::format("it gives {} types, and the node has {}, so that trtexec refuses it", types.size(),
                                     counted(std::ssize(outputs), "output")));
  for (std::size_t i = 0; i < types.size(); ++i)
    m_outputs.insert_or_assign("value:" + outputs[i], Request{types[i], m_next++});
}

void RecipePins::pinNode(const std::string& node, DataType type) {
  m_types.insert_or_assign(node, Request{type, m_next++});
}

void RecipePins::pinMakerOf(const std::string& value, DataType type) {
  const auto id = m_model.graph->findValue(value);
  if (!id || !m_model.graph->value(*id).producer.valid()) return;
  for (const OriginId origin : m_model.graph->node(m_model.graph->value(*id).producer).origins)
    if (const std::string& node = m_model.origins[origin.index].name; calculates(node)) pinNode(node, type);
}

std::string RecipePins::moduleOfNode(const std::string& node) const {
  const auto found = std::ranges::find(m_model.origins, node, &Origin::name);
  return found == m_model.origins.end() ? std::string() : found->module;
}

std::string RecipePins::operatorOf(const std::string& node) const {
  const auto found = std::ranges::find(m_model.origins, node, &Origin::name);
  return found == m_model.origins.end() ? std::string() : found->op;
}

std::vector<std::string> RecipePins::outputsOf(const std::string& node) const {
  std::vector<std::string> outputs;
  for (const NodeId id : m_model.graph->order()) {
    const Node& each = m_model.graph->node(id);
    const bool isOf =
        std::ranges::any_of(each.origins, [&](OriginId origin) { return m_model.origins[origin.index].name == node; });
    if (!isOf) continue;
    outputs.clear();
    for (const ValueId value : each.outputs)
      if (value.valid()) outputs.push_back(m_model.graph->value(value).name);
  }
  return outputs;
}

void RecipePins::moveInto(Recipe& recipe, Strictness strictness) {
  const auto append = [&](const auto& requests, DirectiveKind kind) {
    std::vector<std::pair<std::size_t, Directive>> list;
    for (const auto& [pattern, request] : requests)
      list.emplace_back(request.order,
                        Directive{.kind = kind, .pattern = pattern, .type = request.type, .strictness = strictness});
    std::ranges::sort(list, {}, &std::pair<std::size_t, Directive>::first);
    for (auto& [order, directive] : list) recipe.directives.push_back(std::move(directive));
  };
  append(m_types, DirectiveKind::Pin);
  append(m_outputs, DirectiveKind::PinOutput);
  assignIds(recipe.directives);
  recipe.unmapped.insert(recipe.unmapped.end(), m_unmapped.begin(), m_unmapped.end());
}

}  // namespace fusescope
