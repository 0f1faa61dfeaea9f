#include "ops/no_kernel.h"

#include <fmt/format.h>

#include <array>

#include "ops/op_schema.h"

namespace fusescope {
namespace {

/// What is known of a domain; {} is replaced by the operator.
struct DomainRow {
  std::string_view prefix;  ///< the beginning of the domain
  std::string_view why, help;
};

/// Longer prefixes come before shorter ones.
constexpr std::array kDomains{
    DomainRow{"com.microsoft.nchwc",
              "{} is an operator of ONNX Runtime for the memory layouts of one kind of CPU: the file was optimised for "
              "the machine that wrote it",
              "Use the file from which it was made, or write the optimised file with ORT_ENABLE_EXTENDED "
              "(SessionOptions.graph_optimization_level) instead of ORT_ENABLE_LAYOUT or ORT_ENABLE_ALL: Fusescope "
              "chooses memory layouts itself."},
    DomainRow{"com.microsoft", "{} is an operator of ONNX Runtime that cannot be expressed in operators of ONNX here",
              "Use the file from before the optimiser, or write the optimised file with ORT_ENABLE_BASIC "
              "(SessionOptions.graph_optimization_level)."},
    DomainRow{
        "com.ms.internal",
        "{} is an operator of one of ONNX Runtime's execution providers: the file was optimised for that provider",
        "Use the file from which it was made, or write it with the CPU execution provider alone."},
    DomainRow{"ai.onnx.training", "{} is an operator for training", "Export the network for inference."},
    DomainRow{"ai.onnx.preview.training", "{} is an operator for training", "Export the network for inference."},
    DomainRow{"ai.onnx", "operators of the domain of {} are not supported, and it has no function body", ""},
    DomainRow{"org.pytorch.aten", "{} is an operator of PyTorch that the exporter could not express in ONNX operators",
              "Export it with torch.onnx.export(..., dynamo=True), or with a newer opset."},
    DomainRow{"torch.ops", "{} is an operator of PyTorch, which cannot be run here",
              "Convert the file with fusescope import FILE: torch then writes a network that can be opened."},
};

}  // namespace

std::string operatorText(std::string_view domain, std::string_view op) {
  return domain.empty() || domain == "ai.onnx" ? std::string(op) : fmt::format("{}::{}", domain, op);
}

NoKernel whyNoKernel(const Node& node) {
  const std::string op = operatorText(node.domain, node.op);
  if (OpRegistry::standard().find(node) != nullptr) return {fmt::format("no kernel for {} exists yet", op), ""};
  if (node.domain.empty()) return {fmt::format("operator {} is not known", op), ""};
  for (const DomainRow& row : kDomains)
    if (node.domain.starts_with(row.prefix)) return {fmt::format(fmt::runtime(row.why), op), std::string(row.help)};
  return {fmt::format("{} is an operator of the custom domain {}, and the file contains no function for it", node.op,
                      node.domain),
          "Export it as a function that consists of ONNX operators."};
}

}  // namespace fusescope
