#include "interchange/rewritten_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/users.h"
#include "frontends/onnx/adapters.h"
#include "frontends/onnx/file_tensors.h"
#include "frontends/onnx/node_order.h"
#include "ir/graph.h"
#include "onnxlib/operator_types.h"

namespace fusescope {
namespace {

using onnxlib::FileGraph;
using onnxlib::FileNode;

Diagnostic notInTheFile(const std::string& name) {
  return {.message = "the node differs from the node of the file, so its operands cannot be written as codes",
          .where = {.node = name},
          .help = fmt::format("Leave the node in floats: --pin '{}=f32'.", name)};
}

class Finder {
 public:
  Finder(const Graph& graph, const FileGraph& file, const std::function<std::optional<std::size_t>(OriginId)>& placeOf)
      : m_graph(graph), m_file(file), m_placeOf(placeOf) {
    for (const NodeId id : graph.order())
      for (const OriginId origin : graph.node(id).origins) m_nodesOf[origin].push_back(id);
    for (const auto& values : {file.inputs, file.values})
      for (const auto& value : values) m_values.insert(value.name);
    for (const FileNode& node : file.nodes) m_values.insert(node.outputs.begin(), node.outputs.end());
  }

  Result<RewrittenNodes> run(const std::set<NodeId>& wanted) {
    for (const NodeId id : wanted) TRY(take(id));
    while (!m_pending.empty()) {
      const NodeId id = m_pending.back();
      m_pending.pop_back();
      for (const OriginId origin : m_graph.node(id).origins) {
        const auto place = m_placeOf(origin);
        if (!place) return notInTheFile(m_graph.node(id).name);
        m_found.places.insert(*place);
        for (const NodeId other : m_nodesOf[origin]) TRY(take(other));
      }
      TRY(takeMakers(id));
    }
    TRY(checkNothingIsMissing());
    return std::move(m_found);
  }

 private:
  Status take(NodeId id) {
    if (!m_found.nodes.insert(id).second) return Done{};
    if (m_graph.node(id).origins.empty() || hasBody(m_graph.node(id))) return notInTheFile(m_graph.node(id).name);
    m_pending.push_back(id);
    return Done{};
  }

  /// Of what `id` reads and the file has no value of.
  Status takeMakers(NodeId id) {
    for (const ValueId value : valuesRead(m_graph.node(id))) {
      const NodeId maker = m_graph.value(value).producer;
      if (maker.valid() && !m_values.contains(m_graph.value(value).name)) TRY(take(maker));
    }
    return Done{};
  }

  Status checkNothingIsMissing() {
    std::set<std::string> made, read;
    for (const NodeId id : m_found.nodes)
      for (const ValueId output : m_graph.node(id).outputs)
        if (output.valid()) made.insert(m_graph.value(output).name);
    const auto isRead = [&](const std::string& name) { read.insert(name); };
    for (std::size_t i = 0; i < m_file.nodes.size(); ++i)
      if (!m_found.places.contains(i)) forEachRead(m_file.nodes[i], isRead);
    for (const auto& output : m_file.outputs) isRead(output.name);
    for (const std::size_t place : m_found.places) {
      for (const std::string& output : m_file.nodes[place].outputs) {
        if (output.empty()) continue;
        if (read.contains(output) && !made.contains(output)) return notInTheFile(m_file.nodes[place].displayName());
        m_found.removedValues.insert(output);
      }
    }
    return Done{};
  }

  const Graph& m_graph;
  const FileGraph& m_file;
  const std::function<std::optional<std::size_t>(OriginId)>& m_placeOf;
  std::map<OriginId, std::vector<NodeId>> m_nodesOf;
  std::set<std::string> m_values;  ///< of the file's graph
  std::vector<NodeId> m_pending;
  RewrittenNodes m_found;
};

onnxlib::FileAttributeValue fileValue(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> onnxlib::FileAttributeValue {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>)
          return fileTensor({}, value);
        else if constexpr (std::is_same_v<T, Subgraph>)
          return std::monostate();  // nodes with bodies are not rewritten
        else
          return value;
      },
      attribute);
}

}  // namespace

Result<RewrittenNodes> rewrittenNodes(const Graph& graph, const FileGraph& file, const std::set<NodeId>& wanted,
                                      const std::function<std::optional<std::size_t>(OriginId)>& placeOf) {
  return Finder(graph, file, placeOf).run(wanted);
}

FileNode fileNode(const Node& node) {
  FileNode made{.name = node.name, .op = node.op, .domain = node.domain};
  for (const auto& [key, attribute] : node.attributes)
    made.attributes.push_back({.name = key, .value = fileValue(attribute)});
  return made;
}

std::int64_t opsetOf(const FileNode& node, std::int64_t opset) {
  const std::int64_t newest = onnxlib::newestOpset();
  const auto meansTheSame = [&](std::int64_t at) {
    return onnxlib::operatorTypes(node.domain, node.op, at) && !needsRaising(node, at, newest) &&
           onnxlib::obstacleToRaising(node, at, newest).empty();
  };
  while (opset < newest && !meansTheSame(opset)) ++opset;
  return opset;
}

}  // namespace fusescope
