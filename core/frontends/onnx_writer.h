#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace fusescope {

class Graph;

/// Returns a graph as an .onnx file of the newest opset, in whose operators its nodes are; it contains the weights. A
/// body refers to captured values by name. If a name in a body also occurs in an enclosing graph, "#2", "#3", … is
/// appended. It is an error, which names the cause, if an operator is not one of ONNX's own, or if a weight has no
/// data.
Result<std::string> onnxBytes(const Graph& graph);

/// Does the same at other opsets, by domain ("" is ai.onnx). Operators may be of these domains. The caller has to
/// ensure that every node has the same meaning at these opsets.
Result<std::string> onnxBytes(const Graph& graph, const std::map<std::string, std::int64_t>& opsets);

}  // namespace fusescope
