#pragma once

#include <string_view>

namespace fusescope {

/// Whether the ONNX parser of TensorRT (`tensorrt-8`, `tensorrt-10`, `tensorrt-11`) has an importer for an operator
/// of the domain ai.onnx. Source: docs/operators.md of onnx-tensorrt, branches 8.6-GA, 10.x and 11.x.
bool tensorrtParses(std::string_view target, std::string_view op);

}  // namespace fusescope
