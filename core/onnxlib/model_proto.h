#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <string>

#include "base/result.h"

namespace fusescope::onnxlib {

/// Reads a model without its large payloads (wire_strip.h) into `proto`. Errors: protobuf cannot read it, it holds no
/// graph.
Status parseModel(const std::string& wire, onnx::ModelProto& proto);

}  // namespace fusescope::onnxlib
