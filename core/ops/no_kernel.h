#pragma once

#include <string>
#include <string_view>

namespace fusescope {

struct Node;

/// Why a node without a kernel in the registry cannot run, and how the file can be written without it.
struct NoKernel {
  std::string why;   ///< names the operator and its domain
  std::string help;  ///< a separate sentence, or empty
};
NoKernel whyNoKernel(const Node& node);

/// Returns "com.microsoft::Gelu", or "Gelu" for ai.onnx.
std::string operatorText(std::string_view domain, std::string_view op);

}  // namespace fusescope
