#include "onnxlib/onnx_text.h"

#include <onnx/defs/parser.h>
#include <onnx/defs/printer.h>

namespace fusescope::onnxlib {

Result<std::string> onnxTextToBytes(std::string_view text) {
  try {
    onnx::ModelProto model;
    const auto status = onnx::OnnxParser::Parse(model, text);
    if (!status.IsOK()) return Diagnostic{.message = status.ErrorMessage()};
    return model.SerializeAsString();
  } catch (const std::exception& error) {
    return Diagnostic{.message = error.what()};
  }
}

Result<std::string> onnxBytesToText(std::string_view bytes) {
  try {
    onnx::ModelProto model;
    if (!model.ParseFromString(std::string(bytes))) return Diagnostic{.message = "is not an ONNX model"};
    return onnx::ProtoToString(model);
  } catch (const std::exception& error) {
    return Diagnostic{.message = error.what()};
  }
}

}  // namespace fusescope::onnxlib
