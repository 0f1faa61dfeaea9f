#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace fusescope {

/// Why no kernel runs a node's operator, which has none in the registry, and how the file can be written without it.
struct NoKernel {
  std::string why;   ///< names the operator and its domain
  std::string help;  ///< a sentence of its own, or empty
};
NoKernel whyNoKernel(const Node& node);

/// "com.microsoft::Gelu", or "Gelu" for ai.onnx.
std::string operatorText(std::string_view domain, std::string_view op);

}  // namespace fusescope
