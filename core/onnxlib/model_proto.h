#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <string>

#include "base/result.h"

namespace fusescope::onnxlib {

/// A model without its large payloads (wire_strip.h). Errors: protobuf cannot read it, it holds no graph.
Result<onnx::ModelProto> parseModel(const std::string& wire);

}  // namespace fusescope::onnxlib
