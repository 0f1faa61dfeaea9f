#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "onnxlib/proto_editor.h"
#include "onnxlib/proto_reader.h"
#include "onnxlib/proto_writer.h"

namespace fusescope::onnxlib {
namespace {

using Operator = std::pair<std::string, std::string>;  ///< domain and name

void addOperators(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, std::set<Operator>& operators) {
  for (const auto& node : nodes) {
    operators.emplace(canonicalDomain(node.domain()), node.op_type());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) addOperators(attribute.g().node(), operators);
      for (const auto& graph : attribute.graphs()) addOperators(graph.node(), operators);
    }
  }
}

/// Removes the functions that are not called any more.
void dropUncalled(onnx::ModelProto& model) {
  std::set<Operator> called;
  addOperators(model.graph().node(), called);
  for (std::size_t before = 0; before != called.size();) {
    before = called.size();
    for (const auto& function : model.functions())
      if (called.contains({canonicalDomain(function.domain()), function.name()})) addOperators(function.node(), called);
  }
  removeWhere(*model.mutable_functions(), [&](const onnx::FunctionProto& function) {
    return !called.contains({canonicalDomain(function.domain()), function.name()});
  });
}

std::set<std::string, std::less<>> weightsOf(const onnx::GraphProto& graph) {
  std::set<std::string, std::less<>> names;
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) names.insert(sparse.values().name());
  return names;
}

}  // namespace

void ProtoEditor::setBorders(const NetworkEdits::Borders& borders) {
  onnx::GraphProto& graph = *m_model.mutable_graph();
  graph.clear_output();
  for (const FileValue& output : borders.outputs) setValue(*graph.add_output(), output);
  const auto read = namesRead(graph);
  removeWhere(*graph.mutable_initializer(), [&](const auto& tensor) { return !read.contains(tensor.name()); });
  removeWhere(*graph.mutable_sparse_initializer(),
              [&](const auto& sparse) { return !read.contains(sparse.values().name()); });
  auto held = weightsOf(graph);
  removeWhere(*graph.mutable_input(), [&](const auto& input) { return !held.contains(input.name()); });
  for (const auto& node : graph.node()) held.insert(node.output().begin(), node.output().end());
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> weights;
  weights.Swap(graph.mutable_input());
  for (const FileValue& input : borders.inputs) setValue(*graph.add_input(), input);
  graph.mutable_input()->MergeFrom(weights);
  std::set<std::string, std::less<>> bordering;
  for (const FileValue& output : borders.outputs) bordering.insert(output.name);
  removeWhere(*graph.mutable_value_info(),
              [&](const auto& value) { return !held.contains(value.name()) || bordering.contains(value.name()); });
  removeWhere(*graph.mutable_quantization_annotation(),
              [&](const auto& annotation) { return !held.contains(annotation.tensor_name()); });
  dropUncalled(m_model);
  graph.clear_metadata_props();  // an exporter's metadata are about the whole network: its signature, its ranges
  m_model.clear_training_info();
}

}  // namespace fusescope::onnxlib
