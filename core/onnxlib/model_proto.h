#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <string>

#include "base/result.h"

namespace fusescope::onnxlib {

/// Parses a model without its large payloads (wire_strip.h) into `proto`. It is an error if protobuf cannot read it, or
/// if it contains no graph.
Status parseModel(const std::string& wire, onnx::ModelProto& proto);

}  // namespace fusescope::onnxlib
