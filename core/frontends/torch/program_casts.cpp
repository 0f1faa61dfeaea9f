#include "frontends/torch/program_casts.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "base/json_splice.h"
#include "base/text.h"
#include "base/untrusted_json.h"
#include "frontends/torch/element_types.h"
#include "frontends/torch/exported_program.h"
#include "frontends/torch/program_reader.h"
#include "frontends/torch/schema_fields.h"

namespace fusescope {
namespace {

constexpr const char* kCast = "torch.ops.aten._to_copy.default";
constexpr std::int64_t kPositional = 1, kKeyword = 2;  // ArgumentKind of the schema

/// Calls `visit` with the name in each {"name": …} inside an argument, and stores the changed name.
void eachName(Json& argument, const std::function<void(std::string&)>& visit) {
  if (argument.is_array()) {
    for (Json& element : argument) eachName(element, visit);
  } else if (argument.is_object()) {
    const auto name = argument.find("name");
    if (argument.size() == 1 && name != argument.end() && name->is_string()) {
      visit(name->get_ref<std::string&>());
      return;
    }
    for (auto& [key, value] : argument.items())
      if (key != "as_graph") eachName(value, visit);
  }
}

/// Returns whether an argument contains something of this kind of the schema: "as_graph", "as_scalar_type".
bool holds(const Json& argument, const char* kind) {
  if (argument.is_array()) {
    for (const Json& element : argument)
      if (holds(element, kind)) return true;
    return false;
  }
  if (!argument.is_object()) return false;
  for (const auto& [key, value] : argument.items())
    if ((key == kind && !value.is_null()) || holds(value, kind)) return true;
  return false;
}

/// Returns "relu_" for "torch.ops.aten.relu_.default".
std::string operatorOf(const Json& node) {
  const std::vector<std::string> parts = split(node.value("target", std::string()), '.');
  return parts.size() < 2 ? std::string() : parts[parts.size() - 2];
}

/// Returns whether the node changes its operand, as "relu_" and "__iand__" do and "__and__" does not.
bool changesInPlace(const Json& node) {
  const std::string op = operatorOf(node);
  return op.ends_with("__") ? op.starts_with("__i") : op.ends_with('_');
}

bool isOneOf(const std::string& op, std::span<const std::string_view> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

/// Operators whose result is not a view, so that changing it changes nothing else.
constexpr std::string_view kMakeAnew[] = {"conv1d",
                                          "conv2d",
                                          "conv3d",
                                          "conv_transpose1d",
                                          "conv_transpose2d",
                                          "conv_transpose3d",
                                          "convolution",
                                          "linear",
                                          "addmm",
                                          "mm",
                                          "bmm",
                                          "matmul",
                                          "scaled_dot_product_attention",
                                          "embedding",
                                          "batch_norm",
                                          "layer_norm",
                                          "group_norm",
                                          "instance_norm",
                                          "_native_batch_norm_legit_no_training",
                                          "add",
                                          "sub",
                                          "mul",
                                          "div",
                                          "neg",
                                          "pow",
                                          "sqrt",
                                          "rsqrt",
                                          "exp",
                                          "erf",
                                          "cat",
                                          "where",
                                          "relu",
                                          "relu6",
                                          "hardtanh",
                                          "silu",
                                          "gelu",
                                          "sigmoid",
                                          "tanh",
                                          "hardswish",
                                          "hardsigmoid",
                                          "leaky_relu",
                                          "elu",
                                          "softmax",
                                          "mean",
                                          "sum",
                                          "max_pool2d",
                                          "avg_pool2d",
                                          "adaptive_avg_pool2d"};

/// Returns whether the node uses statistics of its operand, and changes those that it was given.
bool trains(const Json& node) {
  for (const Json& input : node["inputs"]) {
    const std::string name = input.value("name", std::string());
    if ((name == "training" || name == "train") && input["arg"].value("as_bool", Json()) == Json(true)) return true;
  }
  return false;
}

class CastWriter {
 public:
  CastWriter(Json graph, const torch::ProgramGraph& read, DataType low)
      : m_graph(std::move(graph)), m_read(read), m_low(low), m_suffix(low == DataType::F16 ? "_f16" : "_bf16") {
    const DataType types[] = {DataType::F32, low};
    for (std::int64_t number = 0; number < 64; ++number)
      for (const DataType type : types)
        if (torch::typeOfNumber(number) == type) m_numbers.emplace(type, number);
    findChanges();
  }

  CastProgram write(const std::set<std::string>& asked, const Json& calls) {
    Json& nodes = m_graph["nodes"];
    std::vector<bool> isNarrow(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) isNarrow[i] = narrows(i, asked);
    noteWide(calls);
    noteWide(m_graph["outputs"]);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (!isNarrow[i]) noteWide(nodes[i]["inputs"]);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (isNarrow[i]) {
        add(std::move(nodes[i]));
        continue;
      }
      // A value that was cast before it changes is not that value any more.
      if (m_changes.contains(i)) m_narrow.clear();
      m_nodes.push_back(std::move(nodes[i]));
    }
    nodes = std::move(m_nodes);
    return std::move(m_made);
  }

  const Json& graph() const { return m_graph; }

 private:
  bool isFloat32(const std::string& value) const {
    const auto meta = m_read.tensors.find(value);
    return meta != m_read.tensors.end() && meta->second.type == DataType::F32;
  }

  bool readsFloats(Json& inputs) const {
    bool reads = false;
    eachName(inputs, [&](std::string& name) { reads = reads || isFloat32(name); });
    return reads;
  }

  bool readsUnknown(Json& inputs) const {
    bool reads = false;
    eachName(inputs, [&](std::string& name) { reads = reads || !m_read.tensors.contains(name); });
    return reads;
  }

  /// Returns whether the node is to use the lower type. If it was requested and is not possible, this is recorded.
  bool narrows(std::size_t index, const std::set<std::string>& asked) {
    Json& node = m_graph["nodes"][index];
    const std::string& name = m_read.nodes[index].name;
    if (!asked.contains(name)) return false;
    const Json& inputs = node["inputs"];
    std::string why;
    if (holds(inputs, "as_graph"))
      why = "contains a graph";
    else if (m_changes.contains(index))
      why = "changes a value in place that other nodes may read";
    else if (!m_changes.empty() && !isOneOf(plainOf(operatorOf(node)), kMakeAnew))
      why = "may be a view of a value that another node changes in place";
    else if (holds(inputs, "as_scalar_type"))
      why = "has a type that its author set";
    else if (readsUnknown(node["inputs"]))
      why = "reads a value whose type the program does not declare";
    else if (!readsFloats(node["inputs"]))
      return false;  // the type of its result is an argument, or that of its operand
    if (why.empty()) {
      ++m_made.narrowed;
      return true;
    }
    m_made.kept.push_back({name, why});
    return false;
  }

  /// Finds the nodes that change a value in place which other nodes may read, directly or as a view. A node that
  /// changes a value that was made only for it is equivalent to its functional form.
  void findChanges() {
    std::map<std::string, int> reads;
    const auto count = [&](const Json& read) {
      Json copy = read;
      eachName(copy, [&](std::string& name) { ++reads[name]; });
    };
    count(m_graph["outputs"]);
    for (const Json& node : m_graph["nodes"]) count(node["inputs"]);
    std::set<std::string> anew;  // values that no other value shares
    for (std::size_t i = 0; i < m_graph["nodes"].size(); ++i) {
      const Json& node = m_graph["nodes"][i];
      bool makesAnew = isOneOf(operatorOf(node), kMakeAnew);
      if (changesInPlace(node)) {
        Json inputs = node["inputs"];
        std::string changed;
        if (!inputs.empty()) eachName(inputs.front(), [&](std::string& name) { changed = name; });
        makesAnew = anew.contains(changed) && reads[changed] == 1 && isOneOf(plainOf(operatorOf(node)), kMakeAnew);
        if (!makesAnew) m_changes.insert(i);
      }
      if (trains(node)) m_changes.insert(i);
      if (!makesAnew) continue;
      Json made = node["outputs"];
      eachName(made, [&](std::string& name) { anew.insert(name); });
    }
  }

  /// Returns "relu" for "relu_".
  static std::string plainOf(std::string op) {
    if (op.ends_with('_') && !op.ends_with("__")) op.pop_back();
    return op;
  }

  void noteWide(const Json& read) {
    Json copy = read;
    eachName(copy, [&](std::string& name) { m_wide.insert(name); });
  }

  std::string newName(const std::string& of) {
    std::string name = of + m_suffix;
    for (int i = 2; m_graph["tensor_values"].contains(name) || m_taken.contains(name); ++i)
      name = of + m_suffix + "_" + std::to_string(i);
    m_taken.insert(name);
    Json meta = m_graph["tensor_values"][of];
    meta["dtype"] = m_numbers.at(m_low);
    m_graph["tensor_values"][name] = std::move(meta);
    return name;
  }

  /// Adds a node that casts `from` to `to`, with the place in the source of `beside`.
  void cast(const Json& beside, const std::string& from, const std::string& to, DataType type) {
    Json node = beside;
    const Json& first = beside["inputs"].front();
    const auto argument = [&](const char* name, const char* kind, Json value, std::int64_t place) {
      Json made{{"name", name}, {"arg", Json{{kind, std::move(value)}}}};
      if (first.contains("kind")) made["kind"] = place;
      return made;
    };
    node["target"] = kCast;
    node["inputs"] = Json::array({argument("self", "as_tensor", Json{{"name", from}}, kPositional),
                                  argument("dtype", "as_scalar_type", m_numbers.at(type), kKeyword)});
    node["outputs"] = Json::array({Json{{"as_tensor", Json{{"name", to}}}}});
    if (node.contains("name")) node["name"] = to;
    m_nodes.push_back(std::move(node));
    ++m_made.casts;
  }

  void add(Json node) {
    const Json beside = node;
    eachName(node["inputs"], [&](std::string& name) {
      if (!isFloat32(name)) return;
      auto narrow = m_narrow.find(name);
      if (narrow == m_narrow.end()) {
        narrow = m_narrow.emplace(name, newName(name)).first;
        cast(beside, name, narrow->second, m_low);
      }
      name = narrow->second;
    });
    std::vector<std::pair<std::string, std::string>> made;
    eachName(node["outputs"], [&](std::string& name) {
      if (!isFloat32(name)) return;
      const std::string narrow = newName(name);
      m_narrow.emplace(name, narrow);
      made.emplace_back(name, narrow);
      name = narrow;
    });
    if (node.contains("name") && made.size() == 1 && node["name"] == made.front().first)
      node["name"] = made.front().second;
    if (changesInPlace(node)) {
      std::vector<std::string> parts = split(node["target"].get<std::string>(), '.');
      parts[parts.size() - 2].pop_back();
      node["target"] = joined(parts, ".");
    }
    m_nodes.push_back(std::move(node));
    for (const auto& [wide, narrow] : made) {
      if (!m_changes.empty() || m_wide.contains(wide))
        cast(beside, narrow, wide, DataType::F32);
      else
        m_graph["tensor_values"].erase(wide);
    }
  }

  Json m_graph;
  const torch::ProgramGraph& m_read;
  DataType m_low;
  std::string m_suffix;
  std::map<DataType, std::int64_t> m_numbers;   ///< of types, in the schema
  std::set<std::size_t> m_changes;              ///< nodes that change a value in place which others may read
  std::set<std::string> m_wide, m_taken;        ///< values that are read in float32; names that were given
  std::map<std::string, std::string> m_narrow;  ///< by value: the one in the lower type
  Json m_nodes = Json::array();
  CastProgram m_made;
};

}  // namespace

Result<CastProgram> withCasts(const std::string& program, const std::set<std::string>& nodes, DataType low) {
  const torch::ExportedProgram read =
      TRY(torch::parseExportedProgram(program, std::numeric_limits<std::int64_t>::max()));
  const Json json = untrustedJson(program);
  if (json.is_discarded())
    return Diagnostic{
        .message =
            "the program contains numbers that JSON does not have (NaN, Infinity), so it cannot be written again"};
  const Json& module = *TRY(torch::objectField(json, "graph_module"));
  CastWriter writer(*TRY(torch::objectField(module, "graph")), read.graph, low);
  CastProgram made = writer.write(nodes, module.value("module_call_graph", Json::array()));
  made.json = TRY(withJsonMember(program, {"graph_module"}, "graph", writer.graph().dump()));
  return made;
}

}  // namespace fusescope
