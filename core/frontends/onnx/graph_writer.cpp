#include <map>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "frontends/onnx/file_tensors.h"
#include "frontends/onnx/unique_names.h"
#include "frontends/onnx_writer.h"
#include "ir/graph.h"
#include "ir/type_text.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {
namespace {

using onnxlib::FileAttribute;
using onnxlib::FileGraph;
using onnxlib::FileNode;

/// Writes one graph and the graphs in it. A file has no list of captures: a body uses names of values in enclosing
/// graphs, and none of its own values has the name of one of those.
class GraphWriter {
 public:
  GraphWriter(const Graph& graph, const onnxlib::Opsets& opsets) : m_graph(graph), m_opsets(opsets) {
    nameValues(graph.inputs().size());
    for (const NodeId id : graph.order()) m_nodeNames.take(graph.node(id).name);
  }

  /// Writes a body, whose last inputs are the values of `outer` that it captures.
  GraphWriter(const Subgraph& body, const GraphWriter& outer)
      : m_graph(*body.graph), m_opsets(outer.m_opsets), m_valueNames(outer.m_valueNames) {
    const std::size_t own = m_graph.inputs().size() - body.captures.size();
    for (std::size_t i = 0; i < body.captures.size(); ++i)
      m_names[m_graph.inputs()[own + i]] = outer.nameOf(body.captures[i]);
    nameValues(own);
    for (const NodeId id : m_graph.order()) m_nodeNames.take(m_graph.node(id).name);
    std::set<ValueId> given;
    for (const ValueId id : m_graph.outputs())
      m_copies.push_back(m_graph.value(id).producer.valid() && given.insert(id).second ? std::string()
                                                                                       : m_valueNames.take(nameOf(id)));
  }

  Result<FileGraph> run() {
    m_file.name = m_graph.name().empty() ? "graph" : m_graph.name();
    for (std::size_t i = 0; i < m_ownInputs; ++i) m_file.inputs.push_back(fileValue(m_graph.inputs()[i]));
    for (const ValueId id : m_graph.allValues())
      if (m_graph.isConstant(id)) TRY(addConstant(m_graph.value(id)));
    for (const NodeId id : m_graph.order()) TRY(addNode(m_graph.node(id)));
    for (std::size_t i = 0; i < m_graph.outputs().size(); ++i) addOutput(i);
    return std::move(m_file);
  }

 private:
  /// Every value gets a name before a body is written, so that no name in the body is used again later.
  void nameValues(std::size_t ownInputs) {
    m_ownInputs = ownInputs;
    for (const ValueId id : m_graph.allValues())
      if (!m_names.contains(id)) m_names[id] = m_valueNames.take(m_graph.value(id).name);
  }

  std::string nameOf(ValueId id) const { return id.valid() ? m_names.at(id) : std::string(); }
  onnxlib::FileValue fileValue(ValueId id) const { return {nameOf(id), fileType(m_graph.value(id).type)}; }

  Status addConstant(const Value& value) {
    if (!value.constant->hasData())
      return Diagnostic{.message = "has no data, because the model was saved without its weights",
                        .where = {.value = value.name}};
    m_file.initializers.push_back(fileTensor(nameOf(value.id), *value.constant));
    return Done{};
  }

  /// Each output of a body is made by a node of its own: an input, a constant, or a value that is returned twice passes
  /// through an Identity.
  void addOutput(std::size_t i) {
    const ValueId id = m_graph.outputs()[i];
    onnxlib::FileValue output = fileValue(id);
    if (i < m_copies.size() && !m_copies[i].empty()) {
      output.name = m_copies[i];
      m_file.nodes.push_back({.name = m_nodeNames.take("node_of_" + output.name),
                              .op = "Identity",
                              .inputs = {nameOf(id)},
                              .outputs = {output.name}});
    }
    m_file.outputs.push_back(std::move(output));
  }

  Status addNode(const Node& node) {
    if (!m_opsets.contains(node.domain))
      return Diagnostic{.message = "its operator is not one of ONNX's own: " + node.op, .where = {.node = node.name}};
    FileNode made{.name = node.name, .op = node.op, .domain = node.domain};
    for (const ValueId input : node.inputs) made.inputs.push_back(nameOf(input));
    for (const ValueId output : node.outputs) made.outputs.push_back(nameOf(output));
    for (const auto& [name, value] : node.attributes) {
      auto written = TRY(attributeValue(node, name, value));
      made.attributes.push_back({.name = name, .value = std::move(written)});
    }
    m_file.nodes.push_back(std::move(made));
    return Done{};
  }

  Result<onnxlib::FileAttributeValue> attributeValue(const Node& node, const std::string& name,
                                                     const Attribute& attribute) const {
    const auto write = [&]<class T>(const T& held) -> Result<onnxlib::FileAttributeValue> {
      if constexpr (std::is_same_v<T, Tensor>) {
        return onnxlib::FileAttributeValue(fileTensor(name, held));
      } else if constexpr (std::is_same_v<T, Subgraph>) {
        return onnxlib::FileAttributeValue(std::make_shared<const FileGraph>(TRY(writtenBody(node, held))));
      } else if constexpr (std::is_same_v<T, std::string>) {
        // In a Graph, the type of an Optional is stored as text.
        if (node.is("Optional") && name == "type") return onnxlib::FileAttributeValue(fileType(TRY(parseType(held))));
        return onnxlib::FileAttributeValue(held);
      } else {
        return onnxlib::FileAttributeValue(held);
      }
    };
    return std::visit(write, attribute);
  }

  /// Errors name the holder, because names in the body are generated.
  Result<FileGraph> writtenBody(const Node& holder, const Subgraph& body) const {
    auto written = GraphWriter(body, *this).run();
    if (written.ok()) return written;
    Diagnostic error = std::move(written).error();
    error.where.node = error.where.node.empty() ? holder.name : holder.name + "/" + error.where.node;
    return error;
  }

  const Graph& m_graph;
  const onnxlib::Opsets& m_opsets;
  UniqueNames m_valueNames, m_nodeNames;
  std::size_t m_ownInputs = 0;
  std::map<ValueId, std::string> m_names;
  std::vector<std::string> m_copies;  ///< of a body, by output: what its Identity makes; empty: it has none
  FileGraph m_file;
};

}  // namespace

Result<std::string> onnxBytes(const Graph& graph) {
  return onnxBytes(graph, {{"", onnxlib::newestOpset()}});
}

Result<std::string> onnxBytes(const Graph& graph, const std::map<std::string, std::int64_t>& opsets) {
  const auto opset = opsets.find("");
  FileGraph written = TRY(GraphWriter(graph, opsets).run());
  const onnxlib::FileModel file{.irVersion = onnxlib::irVersionFor(opset == opsets.end() ? 1 : opset->second),
                                .producer = "fusescope",
                                .opsets = opsets,
                                .graph = std::move(written)};
  return onnxlib::modelBytes(file);
}

}  // namespace fusescope
