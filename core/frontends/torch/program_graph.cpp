#include "frontends/torch/program_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "frontends/torch/element_types.h"
#include "frontends/torch/program_arguments.h"
#include "frontends/torch/schema_fields.h"

namespace fusescope::torch {
namespace {

constexpr int kDeepestGraph = 32;

/// Reads {"as_int": 4} or {"as_expr": {"expr_str": "s0", "hint": {"as_int": 2}}}.
Result<SymbolicNumber> symbolicNumberOf(const Json& json) {
  const UnionValue given = TRY(unionOf(json));
  SymbolicNumber number;
  if (given.kind == "as_int") {
    number.known = integerAt(json, "as_int");
    if (!number.known) return Diagnostic{.message = "must be a 64-bit integer"};
    return number;
  }
  if (given.kind != "as_expr") return number;
  number.expression = TRY(textField(*given.value, "expr_str"));
  if (const auto hint = given.value->find("hint"); hint != given.value->end()) number.hint = integerAt(*hint, "as_int");
  return number;
}

class GraphParser {
 public:
  explicit GraphParser(std::int64_t mostNodes) : m_left(mostNodes) {}

  Result<ProgramGraph> graph(const Json& json, int depth) {
    if (depth > kDeepestGraph) return Diagnostic{.message = "has graphs that are nested too deeply"};
    ProgramGraph graph;
    TRY(readTensors(json, graph));
    TRY(readNumbers(json, graph));
    graph.inputs = TRY(namesOf(json, "inputs"));
    const Json& nodes = *TRY(listField(json, "nodes"));
    if (static_cast<std::int64_t>(nodes.size()) > m_left)
      return Diagnostic{.message = fmt::format("has {} nodes; at most {} are allowed", nodes.size(), m_left)};
    m_left -= static_cast<std::int64_t>(nodes.size());
    graph.nodes = TRY(eachOf<ProgramNode>(nodes, "nodes", [&](const Json& node) { return this->node(node, depth); }));
    graph.outputs = TRY(namesOf(json, "outputs"));
    return graph;
  }

 private:
  static Result<std::vector<std::string>> namesOf(const Json& json, const char* key) {
    const auto each = TRY(eachOf<std::vector<std::string>>(*TRY(listField(json, key)), key, valuesOf));
    std::vector<std::string> names;
    for (const auto& some : each) names.insert(names.end(), some.begin(), some.end());
    return names;
  }

  static Status readTensors(const Json& json, ProgramGraph& graph) {
    for (const auto& [name, description] : TRY(objectField(json, "tensor_values"))->items()) {
      auto meta = tensorMetaOf(description);
      if (!meta.ok()) return within(std::move(meta).error(), "tensor_values." + name);
      graph.tensors.emplace(name, std::move(meta).value());
    }
    return Done{};
  }

  static Status readNumbers(const Json& json, ProgramGraph& graph) {
    if (json.contains("sym_int_values"))
      for (const auto& [name, number] : TRY(objectField(json, "sym_int_values"))->items()) {
        auto symbolic = symbolicNumberOf(number);
        if (!symbolic.ok()) return within(std::move(symbolic).error(), "sym_int_values." + name);
        graph.integers.emplace(name, std::move(symbolic).value());
      }
    const auto add = [&](const char* key, DataType type) -> Status {
      if (!json.contains(key)) return Done{};
      for (const auto& entry : TRY(objectField(json, key))->items()) graph.numbers.emplace(entry.key(), type);
      return Done{};
    };
    TRY(add("sym_float_values", DataType::F64));
    return add("sym_bool_values", DataType::Bool);
  }

  Result<ProgramNode> node(const Json& json, int depth) {
    ProgramNode node{.target = TRY(textField(json, "target"))};
    const ReadBody body = [&](const Json& inner) -> Result<std::shared_ptr<const ProgramGraph>> {
      return std::make_shared<const ProgramGraph>(TRY(graph(inner, depth + 1)));
    };
    node.inputs = TRY(eachOf<ProgramArgument>(*TRY(listField(json, "inputs")), "inputs",
                                              [&](const Json& input) { return argumentOf(input, body); }));
    node.outputs = TRY(namesOf(json, "outputs"));
    node.name = textOr(json, "name", node.outputs.empty() ? std::string() : node.outputs.front());
    if (const auto metadata = json.find("metadata"); metadata != json.end()) {
      node.stackTrace = textOr(*metadata, "stack_trace", {});
      node.modules = moduleFramesOf(textOr(*metadata, "nn_module_stack", {}));
    }
    return node;
  }

  std::int64_t m_left;  ///< nodes that may still come
};

/// Returns the path in the author's expression "L['self'].layer", which an older PyTorch wrote.
std::string_view withoutSelf(std::string_view path) {
  for (const std::string_view self : {std::string_view("L['self']"), std::string_view("L__self__")})
    if (path.starts_with(self)) path.remove_prefix(self.size());
  while (path.starts_with('.')) path.remove_prefix(1);
  return path;
}

}  // namespace

std::vector<ModuleFrame> moduleFramesOf(std::string_view text) {
  std::vector<ModuleFrame> frames;
  if (text.empty()) return frames;
  for (const std::string& frame : split(text, ';')) {
    const std::size_t first = frame.find(','), last = frame.rfind(',');
    if (first == std::string::npos || first == last) continue;
    const std::string_view path = withoutSelf(std::string_view(frame).substr(first + 1, last - first - 1));
    if (path.find_first_of("([") != std::string_view::npos) continue;  // a Python expression that is not a path
    frames.push_back({.path = std::string(path), .className = frame.substr(last + 1)});
  }
  return frames;
}

Result<TensorMeta> tensorMetaOf(const Json& json) {
  constexpr std::int64_t kStrided = 7;
  TensorMeta meta;
  const auto type = integerAt(json, "dtype");
  if (!type) return Diagnostic{.message = "does not say its type", .where = {.attribute = "dtype"}};
  meta.typeNumber = *type;
  meta.type = typeOfNumber(*type);
  meta.sizes = TRY(eachOf<SymbolicNumber>(*TRY(listField(json, "sizes")), "sizes", symbolicNumberOf));
  meta.strides = TRY(eachOf<SymbolicNumber>(*TRY(listField(json, "strides")), "strides", symbolicNumberOf));
  if (json.contains("storage_offset")) meta.offset = TRY(symbolicNumberOf(json.at("storage_offset")));
  meta.isStrided = integerAt(json, "layout").value_or(kStrided) == kStrided;
  return meta;
}

Result<ProgramGraph> programGraphOf(const Json& json, std::int64_t mostNodes) {
  return GraphParser(mostNodes).graph(json, 0);
}

}  // namespace fusescope::torch
