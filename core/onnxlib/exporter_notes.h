#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <string>

namespace fusescope::onnxlib {

/// Returns the path of the module whose code made `node` ("encoder.layer.3.attention"), from the metadata of PyTorch's
/// exporter. It is empty if there is none, or if the outermost module made the node.
std::string moduleOf(const onnx::NodeProto& node);
/// Returns the source lines of `node`, as Python prints a trace. It is empty if PyTorch's exporter did not record them.
std::string traceOf(const onnx::NodeProto& node);
/// Returns the node of an exported program that `node` was made of, if our probe exported it (torch_export.py); else
/// empty.
std::string programNodeOf(const onnx::NodeProto& node);

}  // namespace fusescope::onnxlib
