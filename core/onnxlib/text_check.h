#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <string_view>

#include "base/result.h"

namespace fusescope::onnxlib {

bool isUtf8(std::string_view text);

/// Checks that every name of the model is UTF-8, as ONNX requires, because other names could neither be shown nor
/// stored. The error quotes the name with invalid bytes as \xHH. Texts of attributes and tensors are bytes and are not
/// checked.
Status checkNames(const onnx::ModelProto& model);

}  // namespace fusescope::onnxlib
