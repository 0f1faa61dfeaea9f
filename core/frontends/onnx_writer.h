#pragma once

#include <string>

#include "ir/graph.h"

namespace fusescope {

/// A graph as an .onnx file of the newest opset, whose operators its nodes are; weights inside. Errors: a node of an
/// operator that is not ONNX's own, or with a body, a weight without data, each named.
Result<std::string> onnxBytes(const Graph& graph);

}  // namespace fusescope
