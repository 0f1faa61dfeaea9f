#include "compilers/onnxruntime/optimiser_names.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"

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

const std::vector<std::string>& knownOptimisers() {
  static const std::vector<std::string> kKnown{"AttentionFusion",
                                               "Avx2WeightS8ToU8Transformer",
                                               "BiasDropoutFusion",
                                               "BiasGeluFusion",
                                               "BiasSkipLayerNormFusion",
                                               "BiasSoftmaxFusion",
                                               "CastChainElimination",
                                               "CastElimination",
                                               "CastFloat16Transformer",
                                               "ClipQuantRewrite",
                                               "CommonSubexpressionElimination",
                                               "ConstantFolding",
                                               "ConstantSharing",
                                               "ConvActivationFusion",
                                               "ConvAddActivationFusion",
                                               "ConvAddFusion",
                                               "ConvBNFusion",
                                               "ConvMulFusion",
                                               "DQMatMulNBitsFusion",
                                               "DivMulFusion",
                                               "DoubleQDQPairsRemover",
                                               "DynamicQuantizeMatMulFusion",
                                               "EliminateDropout",
                                               "EliminateIdentity",
                                               "EliminateSlice",
                                               "EmbedLayerNormFusion",
                                               "EnsureUniqueDQForNodeUnit",
                                               "ExpandElimination",
                                               "FastGeluFusion",
                                               "FreeDimensionOverrideTransformer",
                                               "FuseFp16InitializerToFp32NodeTransformer",
                                               "FuseReluClip",
                                               "GatherSliceToSplitFusion",
                                               "GatherToSliceFusion",
                                               "GatherToSplitFusion",
                                               "GeluApproximation",
                                               "GeluFusion",
                                               "GeluFusionL1",
                                               "GeluFusionL2",
                                               "GemmActivationFusion",
                                               "GemmSumFusion",
                                               "GemmTransposeFusion",
                                               "GqaValueLayoutTransformer",
                                               "GroupQueryAttentionFusion",
                                               "GroupQueryAttentionPreNormFusion",
                                               "IdenticalChildrenConsolidation",
                                               "InsertCastTransformer",
                                               "IsInfReduceSumFusion",
                                               "LabelEncoderFusion",
                                               "LayerNormFusion",
                                               "LayerNormFusionL1",
                                               "LayerNormFusionL2",
                                               "Level1_RuleBasedTransformer",
                                               "Level2_RuleBasedTransformer",
                                               "MatMulActivationFusion",
                                               "MatMulAddFusion",
                                               "MatMulIntegerToFloatFusion",
                                               "MatMulNBitsFusion",
                                               "MatMulNBitsMlpFusion",
                                               "MatMulNBitsQLoRAFusion",
                                               "MatMulNBitsQkvFusion",
                                               "MatMulScaleFusion",
                                               "MatMul_BatchNormalization_Fusion",
                                               "MatmulTransposeFusion",
                                               "MemcpyTransformer",
                                               "NchwcTransformer",
                                               "NhwcTransformer",
                                               "NoopElimination",
                                               "NotWhereFusion",
                                               "Pad_Fusion",
                                               "PreShapeNodeElimination",
                                               "QDQFinalCleanupTransformer",
                                               "QDQPropagationTransformer",
                                               "QDQS8ToU8Transformer",
                                               "QDQSelectorActionTransformer",
                                               "QuickGeluFusion",
                                               "ReluQuantRewrite",
                                               "RemoveDuplicateCastTransformer",
                                               "ReshapeFusion",
                                               "RocmBlasAltImpl",
                                               "ShapeInputMerge",
                                               "SimplifiedLayerNormFusion",
                                               "SkipLayerNormFusion",
                                               "SliceConcatToSpaceToDepthFusion",
                                               "SwiGluFusion",
                                               "TransposeOptimizer",
                                               "TransposeOptimizer_CPUExecutionProvider",
                                               "UnsqueezeElimination",
                                               "WeightBiasQuantization",
                                               "WhereDummyDq"};
  return kKnown;
}

std::vector<std::string> knownOptimisersNear(const std::string& name) {
  const auto isOrBegins = [&](const std::string& known) { return name.starts_with(known); };
  if (std::ranges::any_of(knownOptimisers(), isOrBegins)) return {};
  return nearestNames(name, knownOptimisers());
}

}  // namespace fusescope::onnxruntime
