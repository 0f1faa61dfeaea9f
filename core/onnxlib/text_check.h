#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <string_view>

#include "base/result.h"

namespace fusescope::onnxlib {

bool isUtf8(std::string_view text);

/// Whether every name of the model is UTF-8, as ONNX asks: what is not could neither be shown nor stored. The error
/// quotes the name with its stray bytes as \xHH. Texts of attributes and tensors are bytes and may be anything.
Status checkNames(const onnx::ModelProto& model);

}  // namespace fusescope::onnxlib
