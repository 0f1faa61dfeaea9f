#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <string>

namespace fusescope::onnxlib {

/// The path of the module whose code made `node` ("encoder.layer.3.attention"), from the metadata that PyTorch's
/// exporter leaves on it; empty where there is none, or where the outermost module made it.
std::string moduleOf(const onnx::NodeProto& node);
/// The lines of source that `node` comes from, as Python prints a trace; empty where PyTorch's exporter left none.
std::string traceOf(const onnx::NodeProto& node);
/// The node of an exported program that `node` was made of, where our probe exported it (torch_export.py); else empty.
std::string programNodeOf(const onnx::NodeProto& node);

}  // namespace fusescope::onnxlib
