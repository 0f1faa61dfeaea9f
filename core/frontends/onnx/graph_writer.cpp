#include <type_traits>
#include <utility>
#include <variant>

#include "frontends/onnx/file_tensors.h"
#include "frontends/onnx_writer.h"
#include "onnxlib/network_edits.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {
namespace {

using onnxlib::FileAttribute;
using onnxlib::FileNode;
using onnxlib::FileType;

FileType fileType(const TensorType& type) {
  FileType made{.dtype = type.dtype, .ranked = type.shape.ranked, .dims = {}, .container = type.container};
  for (const Dim& dim : type.shape.dims) made.dims.push_back({dim.size, dim.symbol});
  return made;
}

class GraphWriter {
 public:
  GraphWriter(const Graph& graph, const onnxlib::Opsets& opsets) : m_graph(graph) { m_file.opsets = opsets; }

  Result<std::string> run() {
    const auto opset = m_file.opsets.find("");
    m_file.irVersion = onnxlib::irVersionFor(opset == m_file.opsets.end() ? 1 : opset->second);
    m_file.producer = "fusescope";
    m_file.graph.name = m_graph.name().empty() ? "graph" : m_graph.name();
    for (const ValueId id : m_graph.inputs()) m_file.graph.inputs.push_back(fileValue(id));
    for (const ValueId id : m_graph.outputs()) m_file.graph.outputs.push_back(fileValue(id));
    for (const ValueId id : m_graph.allValues())
      if (m_graph.isConstant(id)) TRY(addConstant(m_graph.value(id)));
    for (const NodeId id : m_graph.order()) TRY(addNode(m_graph.node(id)));
    return onnxlib::modelBytes(m_file);
  }

 private:
  onnxlib::FileValue fileValue(ValueId id) const { return {m_graph.value(id).name, fileType(m_graph.value(id).type)}; }

  Status addConstant(const Value& value) {
    if (!value.constant->hasData())
      return Diagnostic{.message = "has no data: the model was saved without its weights",
                        .where = {.value = value.name}};
    m_file.graph.initializers.push_back(fileTensor(value.name, *value.constant));
    return Done{};
  }

  std::string nameOf(ValueId id) const { return id.valid() ? m_graph.value(id).name : std::string(); }

  Status addNode(const Node& node) {
    const bool isKnown = m_file.opsets.contains(node.domain);
    if (!isKnown || hasBody(node))
      return Diagnostic{.message = isKnown ? "a node with bodies cannot be written"
                                           : "its operator is not one of ONNX's own: " + node.op,
                        .where = {.node = node.name}};
    FileNode made{.name = node.name, .op = node.op, .domain = node.domain};
    for (const ValueId input : node.inputs) made.inputs.push_back(nameOf(input));
    for (const ValueId output : node.outputs) made.outputs.push_back(nameOf(output));
    for (const auto& [name, value] : node.attributes) {
      FileAttribute attribute{.name = name};
      std::visit(
          [&]<class T>(const T& held) {
            if constexpr (std::is_same_v<T, Tensor>) {
              attribute.value = fileTensor(attribute.name, held);
            } else if constexpr (!std::is_same_v<T, Subgraph>) {
              attribute.value = held;
            }
          },
          value);
      made.attributes.push_back(std::move(attribute));
    }
    m_file.graph.nodes.push_back(std::move(made));
    return Done{};
  }

  const Graph& m_graph;
  onnxlib::FileModel m_file;
};

}  // namespace

Result<std::string> onnxBytes(const Graph& graph) {
  return onnxBytes(graph, {{"", onnxlib::newestOpset()}});
}

Result<std::string> onnxBytes(const Graph& graph, const std::map<std::string, std::int64_t>& opsets) {
  return GraphWriter(graph, opsets).run();
}

}  // namespace fusescope
