#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope::onnxlib {

/// Converts ONNX's textual syntax to the bytes of an .onnx file:
///   <ir_version: 10, opset_import: ["" : 18]>
///   net (float[2, 3] x) => (float[2, 3] y) <float[3] w = {1, 2, 3}> { [node_add] y = Add (x, w) }
Result<std::string> onnxTextToBytes(std::string_view text);
/// Converts back, in the form in which the library writes the syntax.
Result<std::string> onnxBytesToText(std::string_view bytes);

}  // namespace fusescope::onnxlib
