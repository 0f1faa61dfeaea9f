#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ir/graph.h"

namespace fusescope {

/// A graph as an .onnx file of the newest opset, whose operators its nodes are; weights inside. What a body captures it
/// names, and a name in a body that a graph around it has as well gets "#2", "#3", …. Errors: a node of an operator
/// that is not ONNX's own, a weight without data, each named.
Result<std::string> onnxBytes(const Graph& graph);

/// The same at other opsets, by domain ("" is ai.onnx), of which operators may be; that every node means the same at
/// them is the caller's to see to.
Result<std::string> onnxBytes(const Graph& graph, const std::map<std::string, std::int64_t>& opsets);

}  // namespace fusescope
