#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

// These functions are the inverse of those in proto_reader.h and tensor_reader.h.
int onnxTypeOf(DataType type);  ///< UNDEFINED for a type that ONNX does not have
void setAttribute(onnx::AttributeProto& proto, const FileAttribute& attribute);
onnx::TypeProto typeProto(const FileType& type);
void setValue(onnx::ValueInfoProto& proto, const FileValue& value);
onnx::NodeProto nodeProto(const FileNode& node);
onnx::TensorProto tensorProto(const FileTensor& tensor);  ///< copies the data, if there is any
onnx::GraphProto graphProto(const FileGraph& graph);

}  // namespace fusescope::onnxlib
