#include "onnxlib/name_numbers.h"

namespace fusescope::onnxlib {
namespace {

constexpr char kMark = '\x01';  // prefix of a node's number until all nodes are named

}  // namespace

void NameNumbers::markNodes(onnx::ModelProto& model) {
  markList(*model.mutable_graph()->mutable_node());
  markBodies(*model.mutable_graph()->mutable_node());
  for (auto& function : *model.mutable_functions()) {
    markList(*function.mutable_node());
    markBodies(*function.mutable_node());
  }
}

void NameNumbers::markList(Nodes& nodes) {
  for (auto& node : nodes) node.set_name(kMark + ("n" + std::to_string(m_nodes++)));
}

void NameNumbers::markBodies(Nodes& nodes) {
  const auto mark = [&](onnx::GraphProto& body) {
    markList(*body.mutable_node());
    markBodies(*body.mutable_node());
  };
  for (auto& node : nodes)
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) mark(*attribute.mutable_g());
      for (auto& graph : *attribute.mutable_graphs()) mark(graph);
    }
}

void NameNumbers::nameNodes(Nodes& nodes) {
  for (auto& node : nodes) {
    const std::string& name = node.name();
    node.set_name(!name.empty() && name.front() == kMark ? name.substr(1) : "n" + std::to_string(m_nodes++));
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) nameNodes(*attribute.mutable_g()->mutable_node());
      for (auto& graph : *attribute.mutable_graphs()) nameNodes(*graph.mutable_node());
    }
  }
}

std::map<std::string, std::string, std::less<>> NameNumbers::name(onnx::ModelProto& model) {
  model.clear_training_info();  // it would refer to old names of values, and no one who runs the network reads it
  nameNodes(*model.mutable_graph()->mutable_node());
  for (auto& function : *model.mutable_functions()) nameNodes(*function.mutable_node());
  Scope main;
  nameValues(*model.mutable_graph(), main);
  for (auto& function : *model.mutable_functions()) nameValues(function);
  return std::move(main.names);
}

void NameNumbers::define(const std::string& name, Scope& scope) {
  if (name.empty() || scope.names.contains(name)) return;
  scope.names.emplace(name, "v" + std::to_string(m_values++));
}

void NameNumbers::defineResults(const Nodes& nodes, Scope& scope) {
  for (const auto& node : nodes)
    for (const std::string& output : node.output()) define(output, scope);
}

/// A name that nothing defines, as in a damaged file, is treated as a value of the graph that reads it.
void NameNumbers::rename(std::string& name, Scope& scope) {
  if (name.empty()) return;
  for (const Scope* visible = &scope; visible != nullptr; visible = visible->outer)
    if (const auto known = visible->names.find(name); known != visible->names.end()) {
      name = known->second;
      return;
    }
  define(name, scope);
  name = scope.names.at(name);
}

void NameNumbers::nameValues(onnx::GraphProto& graph, Scope& scope) {
  for (const auto& input : graph.input()) define(input.name(), scope);
  for (const auto& tensor : graph.initializer()) define(tensor.name(), scope);
  for (const auto& sparse : graph.sparse_initializer()) define(sparse.values().name(), scope);
  defineResults(graph.node(), scope);
  nameValues(*graph.mutable_node(), scope);
  for (Values* values : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()})
    for (auto& value : *values) rename(*value.mutable_name(), scope);
  for (auto& tensor : *graph.mutable_initializer()) rename(*tensor.mutable_name(), scope);
  for (auto& sparse : *graph.mutable_sparse_initializer()) rename(*sparse.mutable_values()->mutable_name(), scope);
  for (auto& annotation : *graph.mutable_quantization_annotation()) {
    rename(*annotation.mutable_tensor_name(), scope);
    for (auto& parameter : *annotation.mutable_quant_parameter_tensor_names())
      rename(*parameter.mutable_value(), scope);
  }
}

void NameNumbers::nameValues(onnx::FunctionProto& function) {
  Scope scope;
  for (const std::string& input : function.input()) define(input, scope);
  defineResults(function.node(), scope);
  nameValues(*function.mutable_node(), scope);
  for (std::string& input : *function.mutable_input()) rename(input, scope);
  for (std::string& output : *function.mutable_output()) rename(output, scope);
  for (auto& value : *function.mutable_value_info()) rename(*value.mutable_name(), scope);
}

void NameNumbers::nameValues(Nodes& nodes, Scope& scope) {
  for (auto& node : nodes) {
    for (std::string& input : *node.mutable_input()) rename(input, scope);
    for (std::string& output : *node.mutable_output()) rename(output, scope);
    for (auto& attribute : *node.mutable_attribute()) {
      const auto body = [&](onnx::GraphProto& graph) {
        Scope inside{.outer = &scope};
        nameValues(graph, inside);
      };
      if (attribute.has_g()) body(*attribute.mutable_g());
      for (auto& graph : *attribute.mutable_graphs()) body(graph);
    }
  }
}

}  // namespace fusescope::onnxlib
