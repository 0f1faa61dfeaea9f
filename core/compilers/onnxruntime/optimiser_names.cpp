#include "compilers/onnxruntime/optimiser_names.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace fusescope::onnxruntime {
namespace {

using NamedBy = std::pair<std::string_view, std::string_view>;

/// How the texts begin that optimisers write into nodes.
constexpr std::array<NamedBy, 6> kOwnTexts{{{"fused Matmul and Add", "MatMulAddFusion"},
                                            {"Reshape for gemm_", "MatMulAddFusion"},
                                            {"fused SkipLayerNorm subgraphs", "SkipLayerNormFusion"},
                                            {"fused LayerNorm subgraphs", "LayerNormFusion"},
                                            {"fused Gelu subgraphs", "GeluFusion"},
                                            {"Added in transpose optimizer", "TransposeOptimizer"}}};

/// Operators of com.microsoft that one optimiser alone writes.
constexpr std::array<NamedBy, 7> kOwnOperators{{{"FusedConv", "ConvActivationFusion"},
                                                {"FusedGemm", "GemmActivationFusion"},
                                                {"BiasGelu", "BiasGeluFusion"},
                                                {"FastGelu", "FastGeluFusion"},
                                                {"QuickGelu", "QuickGeluFusion"},
                                                {"BiasSoftmax", "BiasSoftmaxFusion"},
                                                {"SkipLayerNormalization", "SkipLayerNormFusion"}}};

bool isLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Returns "MatMulScaleFusion" of "n99/MatMulScaleFusion/" and "n99/MatMulScaleFusion/_token_3"; empty if no part of
/// the name is that of a fusion.
std::string_view fusionIn(std::string_view name) {
  constexpr std::string_view kFusion = "Fusion";
  const std::size_t end = name.rfind(kFusion), begin = name.rfind('/', end);
  if (end == name.npos || begin == name.npos) return {};
  const std::string_view found = name.substr(begin + 1, end + kFusion.size() - begin - 1);
  const std::string_view rest = name.substr(end + kFusion.size());
  const bool isWhole = rest.empty() || rest.front() == '/' || rest.front() == '_';
  return isWhole && std::ranges::all_of(found, isLetterOrDigit) ? found : std::string_view();
}

}  // namespace

std::string optimiserOf(const onnxlib::FileNode& node, std::size_t held) {
  if (const std::string_view fusion = fusionIn(node.name); !fusion.empty()) return std::string(fusion);
  for (const auto& [text, optimiser] : kOwnTexts)
    if (node.documentation.starts_with(text)) return std::string(optimiser);
  if (node.domain == "com.microsoft.nchwc") return "NchwcTransformer";
  const auto written = std::ranges::find(kOwnOperators, node.op, &NamedBy::first);
  const bool isFused = held > 1 && node.domain == "com.microsoft" && written != kOwnOperators.end();
  return isFused ? std::string(written->second) : std::string();
}

}  // namespace fusescope::onnxruntime
