#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <map>
#include <string>

namespace fusescope::onnxlib {

/// Gives nodes and values of a model numbers for names: "n0", "n1", … and "v0", "v1", …, each once in the whole file,
/// bodies and functions included. A node of the file has the same number whatever is edited: of the main graph its
/// place, then those of bodies, of functions, and last those that edits added.
class NameNumbers {
 public:
  /// Before the model is edited: marks its nodes with their numbers.
  void markNodes(onnx::ModelProto& model);
  /// Once it is edited: names all. What the values of the main graph are called now, by what they were called.
  std::map<std::string, std::string, std::less<>> name(onnx::ModelProto& model);

 private:
  /// Names that are visible in a graph: its own, and those of the graphs around it.
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
