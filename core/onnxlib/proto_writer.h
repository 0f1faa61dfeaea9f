#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

// The inverse of proto_reader.h and tensor_reader.h.
int onnxTypeOf(DataType type);  ///< the number of an element type; UNDEFINED for one that ONNX does not have
void setAttribute(onnx::AttributeProto& proto, const FileAttribute& attribute);
onnx::TypeProto typeProto(const FileType& type);
void setValue(onnx::ValueInfoProto& proto, const FileValue& value);
onnx::NodeProto nodeProto(const FileNode& node);
onnx::TensorProto tensorProto(const FileTensor& tensor);  ///< its data is copied; none where it has none
onnx::GraphProto graphProto(const FileGraph& graph);

}  // namespace fusescope::onnxlib
