#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <map>
#include <string>

namespace fusescope::onnxlib {

/// Replaces the names of nodes and values of a model by "n0", "n1", … and "v0", "v1", …. Each name is unique in the
/// whole file, including bodies and functions. The number of a node of the file does not depend on edits: nodes of the
/// main graph are numbered by position, then come those of bodies and of functions, and last those that edits added.
class NameNumbers {
 public:
  /// Marks the nodes of the model with their numbers. It is called before the model is edited.
  void markNodes(onnx::ModelProto& model);
  /// Renames everything after the model was edited. Returns the new names of the main graph's values by their old
  /// names.
  std::map<std::string, std::string, std::less<>> name(onnx::ModelProto& model);

 private:
  /// The names that are visible in a graph: its own, and those of the enclosing graphs.
  struct Scope {
    const Scope* outer = nullptr;
    std::map<std::string, std::string, std::less<>> names{};
  };
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
  using Values = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

  void markBodies(Nodes& nodes);
  void markList(Nodes& nodes);
  void nameNodes(Nodes& nodes);
  void nameValues(onnx::GraphProto& graph, Scope& scope);
  void nameValues(onnx::FunctionProto& function);
  void nameValues(Nodes& nodes, Scope& scope);
  void define(const std::string& name, Scope& scope);
  void defineResults(const Nodes& nodes, Scope& scope);
  void rename(std::string& name, Scope& scope);

  std::size_t m_nodes = 0, m_values = 0;
};

}  // namespace fusescope::onnxlib
