#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include "onnxlib/onnxlib.h"
#include "onnxlib/tensor_reader.h"

namespace fusescope::onnxlib {

FileType typeOf(const onnx::TypeProto& proto);
Opsets opsetsOf(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);
std::string canonicalDomain(const std::string& domain);  ///< converts "ai.onnx" to ""

/// Converts the graphs and functions of one file to plain C++. Nodes of known operators are checked against their
/// schema at the opset that their graph imports.
class ProtoReader {
 public:
  ProtoReader(TensorReader& tensors, const ReadLimits& limits) : m_tensors(tensors), m_limits(limits) {}

  Result<FileGraph> graph(const onnx::GraphProto& proto, const Opsets& opsets, int depth = 0);
  Result<FileFunction> function(const onnx::FunctionProto& proto);

 private:
  Result<FileNode> node(const onnx::NodeProto& proto, const Opsets& opsets, int depth);
  Result<FileAttribute> attribute(const onnx::AttributeProto& proto, const Opsets& opsets, int depth);

  TensorReader& m_tensors;
  const ReadLimits& m_limits;
  std::int64_t m_nodes = 0;
};

}  // namespace fusescope::onnxlib
