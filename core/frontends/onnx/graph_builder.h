#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/stop.h"
#include "frontends/importers.h"
#include "frontends/onnx/adapters.h"
#include "frontends/onnx/unique_names.h"
#include "ir/graph.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// The state that the builders of a file's graph and bodies share.
struct ImportContext {
  const onnxlib::FileModel& file;
  const ImportLimits& limits;
  StopToken stop;
  NodeForm nodes = NodeForm::Canonical;
  std::vector<Origin> origins;
  std::vector<Decision> decisions;
  std::map<std::string, const onnxlib::FileFunction*> functions;  ///< by functionKey()
  std::vector<std::int64_t> originNodes;  ///< the number of graph nodes that represent each origin
  std::int64_t builtNodes = 0;
  std::int64_t parameters = 0;
  std::int64_t weightBytes = 0;
  bool weightless = false;
  bool recordsTypes = false;  ///< the plain form of an operator depends on types that the file may not declare
};

/// Builds a Graph from one FileGraph: names are resolved, Constant nodes become constants, functions are inlined, older
/// operators are adapted, and bodies are built with their captured values.
class GraphBuilder : private AdaptContext {
 public:
  explicit GraphBuilder(ImportContext& shared) : m_shared(shared) {}
  GraphBuilder(ImportContext& shared, GraphBuilder& enclosing, OriginId origin, int depth)
      : m_shared(shared), m_enclosing(&enclosing), m_enclosingOrigin(origin), m_depth(depth) {}

  /// Errors are located at node and value.
  Result<std::shared_ptr<const Graph>> build(const onnxlib::FileGraph& graph, const onnxlib::Opsets& opsets);
  const std::vector<ValueId>& captures() const { return m_captures; }  ///< values of the enclosing graph

 private:
  struct PendingNode {
    onnxlib::FileNode node;
    OriginId origin;
    onnxlib::Opsets const* opsets;
  };

  Status declareInputs(const onnxlib::FileGraph& graph);
  Status declareInitializer(const onnxlib::FileTensor& tensor);
  void countWeight(const onnxlib::FileTensor& tensor);
  void reserve(const onnxlib::FileGraph& graph);
  void collectTypes(const onnxlib::FileGraph& graph);
  Status expand(onnxlib::FileNode node, const onnxlib::Opsets& opsets, OriginId origin, int depth, bool adapted);
  Status expandPlainForm(const onnxlib::FileNode& node, const onnxlib::Opsets& opsets, OriginId origin, int depth);
  Status inlineCall(const onnxlib::FileFunction& function, const onnxlib::FileNode& call, OriginId origin, int depth);
  /// Records the types of a node's outputs, because the body of a function or the plain form of an operator that reads
  /// them may depend on them.
  void noteTypes(const onnxlib::FileNode& file);
  /// `ofFile` is true if the file contains the node, and false if the importer made it.
  Status addConstantNode(const onnxlib::FileNode& node, bool ofFile);
  Status declareOutputs(const PendingNode& pending);
  Status addNode(const PendingNode& pending);
  Result<Attribute> attributeOf(const onnxlib::FileAttribute& attribute, const PendingNode& pending);
  Status define(const std::string& name, ValueId id, const std::string& node);
  std::optional<ValueId> resolve(const std::string& name);
  ValueId addConstantTensor(const std::string& name, const onnxlib::FileTensor& tensor);
  TensorType declaredType(const std::string& name) const;
  const Tensor* constantTensor(const std::string& value) const;  ///< null if it is not a constant
  /// Returns the type that ONNX's own inference found for a value of the main graph, or null if it found none or if the
  /// graph is a body.
  const onnxlib::FileType* inferredType(const std::string& value) const;

  const onnxlib::FileType* type(const std::string& value) const override;
  const onnxlib::FileTensor* constant(const std::string& value) const override;
  std::string freshValue(const std::string& wanted) override;
  std::string addConstant(const std::string& wanted, std::vector<std::int64_t> values) override;
  std::string addTensor(const std::string& wanted, onnxlib::FileTensor tensor) override;

  ImportContext& m_shared;
  GraphBuilder* m_enclosing = nullptr;
  OriginId m_enclosingOrigin;  ///< the holder, if this is a body
  int m_depth = 0;
  GraphEditor m_editor;
  UniqueNames m_nodeNames;
  UniqueNames m_valueNames;  ///< all names of the file's graph, then those that were generated
  NameMap<ValueId> m_values;
  NameMap<const onnxlib::FileType*> m_types;
  NameMap<onnxlib::FileTensor> m_constants;     ///< initializers and Constant nodes
  std::unordered_set<std::string_view> m_read;  ///< values of the file's graph that are read
  std::vector<PendingNode> m_pending;
  std::vector<ValueId> m_captures;
  std::deque<onnxlib::FileType> m_bodyTypes;  ///< types of values in functions' bodies, to which m_types points
  std::deque<onnxlib::Opsets> m_bodyOpsets;   ///< opsets of inlined functions, to which PendingNode points
};

}  // namespace fusescope
