#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <string>

namespace fusescope::onnxlib {

/// The path of the module whose code made `node` ("encoder.layer.3.attention"), from the metadata that PyTorch's
/// exporter leaves on it; empty where there is none, or where the outermost module made it.
std::string moduleOf(const onnx::NodeProto& node);

}  // namespace fusescope::onnxlib
