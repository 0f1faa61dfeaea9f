#include "frontends/onnx/plain_forms.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "frontends/onnx/plain_forms/forms_by_family.h"

namespace fusescope {
namespace {

using onnxlib::FileNode;

constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr std::string_view kClassic = "ai.onnx.ml";

struct FormRow {
  std::string_view domain, op;
  std::string_view inputs;  ///< 'x': must be given, 'o': may be absent; a last '*': any number more
  std::size_t outputs;      ///< how many of its outputs the plain form can give
  Status (*make)(plain::Form&);
};

constexpr std::array kForms{
    FormRow{"", "SimplifiedLayerNormalization", "xx", 1, plain::rmsNorm},
    FormRow{kClassic, "ZipMap", "x", 1, plain::tableOfMaps},
    FormRow{kMicrosoft, "Attention", "xxoooo", 2, plain::attention},
    FormRow{kMicrosoft, "BiasAdd", "xxx", 1, plain::biasAdd},
    FormRow{kMicrosoft, "BiasGelu", "xx", 1, plain::biasGelu},
    FormRow{kMicrosoft, "BiasSplitGelu", "xx", 1, plain::biasSplitGelu},
    FormRow{kMicrosoft, "CDist", "xx", 1, plain::pairwiseDistance},
    FormRow{kMicrosoft, "DequantizeLinear", "xxo", 1, plain::renamed},
    FormRow{kMicrosoft, "DynamicQuantizeMatMul", "xxxoo", 1, plain::dynamicQuantizeMatMul},
    FormRow{kMicrosoft, "EmbedLayerNormalization", "xoxxoxxoo", 3, plain::embedLayerNorm},
    FormRow{kMicrosoft, "ExpandDims", "xx", 1, plain::expandDims},
    FormRow{kMicrosoft, "FastGelu", "xo", 1, plain::fastGelu},
    FormRow{kMicrosoft, "FusedConv", "xxoo", 1, plain::fusedConv},
    FormRow{kMicrosoft, "FusedGemm", "xxo", 1, plain::fusedGemm},
    FormRow{kMicrosoft, "FusedMatMul", "xx", 1, plain::fusedMatMul},
    FormRow{kMicrosoft, "FusedMatMulActivation", "xx", 1, plain::fusedMatMul},
    FormRow{kMicrosoft, "GatherBlockQuantized", "xxxo", 1, plain::gatherBlockQuantized},
    FormRow{kMicrosoft, "GatherND", "xx", 1, plain::renamed},
    FormRow{kMicrosoft, "Gelu", "x", 1, plain::gelu},
    FormRow{kMicrosoft, "GemmFastGelu", "xxo", 1, plain::gemmFastGelu},
    FormRow{kMicrosoft, "GroupNorm", "xxx", 1, plain::groupNorm},
    FormRow{kMicrosoft, "GroupQueryAttention", "xooooxxooooo", 3, plain::groupQueryAttention},
    FormRow{kMicrosoft, "MatMulIntegerToFloat", "xxxxooo", 1, plain::matMulIntegerToFloat},
    FormRow{kMicrosoft, "MatMulNBits", "xxxooo", 1, plain::matMulNBits},
    FormRow{kMicrosoft, "MultiHeadAttention", "xooooooo", 3, plain::multiHeadAttention},
    FormRow{kMicrosoft, "NhwcConv", "xxo", 1, plain::channelsLastConv},
    FormRow{kMicrosoft, "NhwcFusedConv", "xxoo", 1, plain::channelsLastConv},
    FormRow{kMicrosoft, "NhwcMaxPool", "x", 1, plain::channelsLastMaxPool},
    FormRow{kMicrosoft, "QAttention", "xxxxxoooo", 2, plain::quantizedAttention},
    FormRow{kMicrosoft, "QEmbedLayerNormalization", "xoxxoxxoxxoxxxxoxx", 2, plain::quantizedEmbedLayerNorm},
    FormRow{kMicrosoft, "QGemm", "xxxxxxooo", 1, plain::quantizedGemm},
    FormRow{kMicrosoft, "QLinearAdd", "xxoxxoxo", 1, plain::quantizedBinary},
    FormRow{kMicrosoft, "QLinearAveragePool", "xxoxo", 1, plain::quantizedPool},
    FormRow{kMicrosoft, "QLinearConcat", "xxxxx*", 1, plain::quantizedConcat},
    FormRow{kMicrosoft, "QLinearConv", "xxxxxxxxo", 1, plain::quantizedConv},
    FormRow{kMicrosoft, "QLinearGlobalAveragePool", "xxxxx", 1, plain::quantizedPool},
    FormRow{kMicrosoft, "QLinearLeakyRelu", "xxoxo", 1, plain::quantizedUnary},
    FormRow{kMicrosoft, "QLinearMul", "xxoxxoxo", 1, plain::quantizedBinary},
    FormRow{kMicrosoft, "QLinearReduceMean", "xxoxo", 1, plain::quantizedReduceMean},
    FormRow{kMicrosoft, "QLinearSigmoid", "xxoxo", 1, plain::quantizedUnary},
    FormRow{kMicrosoft, "QLinearSoftmax", "xxoxx", 1, plain::quantizedSoftmax},
    FormRow{kMicrosoft, "QLinearWhere", "xxxxxxxxx", 1, plain::quantizedWhere},
    FormRow{kMicrosoft, "QuantizeLinear", "xxo", 1, plain::renamed},
    FormRow{kMicrosoft, "QuickGelu", "x", 1, plain::quickGelu},
    FormRow{kMicrosoft, "Range", "xxo", 1, plain::renamed},
    FormRow{kMicrosoft, "RotaryEmbedding", "xxxx", 1, plain::rotaryEmbedding},
    FormRow{kMicrosoft, "SkipGroupNorm", "xxxxo", 2, plain::groupNorm},
    FormRow{kMicrosoft, "SkipLayerNormalization", "xxxoo", 4, plain::skipLayerNorm},
    FormRow{kMicrosoft, "SkipSimplifiedLayerNormalization", "xxxo", 4, plain::skipRmsNorm},
    FormRow{kMicrosoft, "TransposeMatMul", "xx", 1, plain::fusedMatMul},
    FormRow{kMicrosoft, "Trilu", "xo", 1, plain::renamed},
};

const FormRow* rowOf(const FileNode& node) {
  if (node.newest) return nullptr;
  const auto found =
      std::ranges::find_if(kForms, [&](const FormRow& row) { return row.op == node.op && row.domain == node.domain; });
  return found == kForms.end() ? nullptr : &*found;
}

Status checkSlots(const FormRow& row, const plain::Form& form) {
  const FileNode& node = form.node();
  const bool open = row.inputs.ends_with('*');
  for (std::size_t i = 0; i < row.inputs.size(); ++i)
    if (row.inputs[i] == 'x' && !form.has(i)) return form.problem("its input " + std::to_string(i) + " is missing");
  for (std::size_t i = row.inputs.size(); i < node.inputs.size() && !open; ++i)
    if (form.has(i))
      return form.problem("its input " + std::to_string(i) + " is not supported",
                          "Write the file without the optimisation that made " + node.op + ".");
  for (std::size_t i = row.outputs; i < node.outputs.size(); ++i)
    if (form.wants(i))
      return form.problem("its output " + std::to_string(i) + " is not supported",
                          "Write the file without the optimisation that made " + node.op + ".");
  return Done{};
}

}  // namespace

bool hasPlainForm(const FileNode& node) {
  return rowOf(node) != nullptr;
}

Result<std::vector<FileNode>> plainForm(const FileNode& node, AdaptContext& context) {
  const FormRow& row = *rowOf(node);
  plain::Form form(node, context);
  TRY(checkSlots(row, form));
  TRY(row.make(form));
  return form.take();
}

}  // namespace fusescope
