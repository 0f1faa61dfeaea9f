#include "compilers/openvino/layer_kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>

#include "ops/op_schema.h"
#include "planning/kinds.h"

namespace fusescope {
namespace {

template <std::size_t N>
bool isAmong(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

/// Kinds of single nodes that move elements and calculate nothing.
constexpr std::array kMovingKinds = {kinds::kView,
                                     kinds::kTranspose,
                                     kinds::kConcat,
                                     kinds::kSlice,
                                     kinds::kGather,
                                     std::string_view("split"),
                                     std::string_view("scatter"),
                                     std::string_view("pad"),
                                     std::string_view("expand"),
                                     std::string_view("shape")};

/// Returns our kinds for OpenVINO's types of layers.
const std::map<std::string_view, std::string_view>& kindsByType() {
  static const std::map<std::string_view, std::string_view> kKinds = {
      {"Convolution", "conv"},
      {"Deconvolution", "conv"},
      {"DeformableConvolution", "conv"},
      {"FullyConnected", "matmul"},
      {"MatMul", "matmul"},
      {"ScaledDotProductAttention", "attention"},
      {"Eltwise", "pointwise"},
      {"Math", "pointwise"},
      {"Subgraph", "pointwise"},
      {"Softmax", "softmax"},
      {"LogSoftmax", "softmax"},
      {"RMS", "rms_norm"},
      {"RoPE", "rotary"},
      {"NormalizeL2", "norm"},
      {"MVN", "norm"},
      {"Pooling", "pool"},
      {"AdaptivePooling", "pool"},
      {"Reduce", "reduce"},
      {"Concatenation", "concat"},
      {"Split", "split"},
      {"StridedSlice", "slice"},
      {"Gather", "gather"},
      {"GatherElements", "gather"},
      {"GatherND", "gather"},
      {"GatherTree", "gather"},
      {"ScatterUpdate", "scatter"},
      {"ScatterElementsUpdate", "scatter"},
      {"ScatterNDUpdate", "scatter"},
      {"Pad", "pad"},
      {"Interpolate", "resize"},
      {"Broadcast", "expand"},
      {"Tile", "expand"},
      {"FakeQuantize", "quantize"},
      {"ShapeOf", "shape"},
      {"If", "if"},
      {"TensorIterator", "loop"},
      {"Loop", "loop"},
      {"RNNSeq", "recurrence"},
      {"RNNCell", "recurrence"},
      {"AUGRUSeq", "recurrence"},
      {"Reshape", "view"},
      {"Transpose", "transpose"},
  };
  return kKinds;
}

bool movesAlone(std::string_view type) {
  constexpr std::array<std::string_view, 26> kTypes = {"Reshape",
                                                       "Transpose",
                                                       "Reorder",
                                                       "Convert",
                                                       "Split",
                                                       "Concatenation",
                                                       "StridedSlice",
                                                       "Gather",
                                                       "GatherElements",
                                                       "GatherND",
                                                       "GatherTree",
                                                       "Broadcast",
                                                       "Tile",
                                                       "Pad",
                                                       "ShuffleChannels",
                                                       "SpaceToDepth",
                                                       "DepthToSpace",
                                                       "SpaceToBatch",
                                                       "BatchToSpace",
                                                       "ShapeOf",
                                                       "ScatterUpdate",
                                                       "ScatterElementsUpdate",
                                                       "ScatterNDUpdate",
                                                       "ReverseSequence",
                                                       "Roll",
                                                       "MemoryInput"};
  return isAmong(type, kTypes);
}

}  // namespace

LayerWork workOf(const ExecutionLayer& layer) {
  constexpr std::array<std::string_view, 3> kNothing = {"Const", "Input", "Output"};
  constexpr std::array<std::string_view, 3> kElementwise = {"Eltwise", "Math", "FakeQuantize"};
  if (isAmong(layer.type, kNothing)) return LayerWork::Nothing;
  if (movesAlone(layer.type)) return LayerWork::Moves;
  return isAmong(layer.type, kElementwise) ? LayerWork::Elementwise : LayerWork::Calculates;
}

bool isView(const ExecutionLayer& layer) {
  constexpr std::array<std::string_view, 5> kTypes = {"Reshape", "Split", "Gather", "Concatenation", "StridedSlice"};
  return layer.primitive.starts_with("unknown") && isAmong(layer.type, kTypes);
}

bool isConversion(const ExecutionLayer& layer) {
  if (layer.type != "Reorder" && layer.type != "Convert") return false;
  return !layer.inputs.empty() && layer.outputs.size() == 1 &&
         layer.inputs.front().extents == layer.outputs.front().extents;
}

bool isWholePattern(const ExecutionLayer& layer) {
  constexpr std::array<std::string_view, 6> kTypes = {
      "MVN", "RMS", "RoPE", "NormalizeL2", "ScaledDotProductAttention", "RNNSeq"};
  return isAmong(layer.type, kTypes);
}

NodeWork workOf(const Node& node) {
  const std::string_view kind = kindOfSingle(node);
  if (node.is("Cast") || node.is("CastLike") || node.is("BitCast")) return NodeWork::Casts;
  const OpSchema* schema = OpRegistry::standard().find(node);
  const bool moves = schema != nullptr && schema->kind == OpKind::Movement;
  if (moves || isAmong(kind, kMovingKinds)) return NodeWork::Moves;
  if (kind == kinds::kPointwise || kind == kinds::kQuantize || kind == kinds::kBatchNorm) return NodeWork::Elementwise;
  if (kind == kinds::kConv) return NodeWork::Convolution;
  if (kind == kinds::kMatMul || kind == kinds::kGemm || kind == kinds::kAttention) return NodeWork::Product;
  return NodeWork::Other;
}

bool canHold(const ExecutionLayer& layer, const Node& node) {
  constexpr std::array<std::string_view, 4> kProducts = {"FullyConnected", "MatMul", "Convolution", "Subgraph"};
  constexpr std::array<std::string_view, 12> kOneThing = {"Softmax", "LogSoftmax", "Pooling", "MVN",
                                                          "RMS",     "RNNSeq",     "RNNCell", "Interpolate",
                                                          "TopK",    "Reduce",     "RoPE",    "NonZero"};
  const NodeWork work = workOf(node);
  const LayerWork place = workOf(layer);
  if (place == LayerWork::Nothing) return false;
  if (work == NodeWork::Moves || work == NodeWork::Casts) return true;
  if (place == LayerWork::Moves) return false;
  if (work == NodeWork::Elementwise) return true;
  if (place == LayerWork::Elementwise) return false;
  if (work == NodeWork::Convolution) return layer.type.ends_with("onvolution") || isAmong(layer.type, kProducts);
  if (work == NodeWork::Product) return isAmong(layer.type, kProducts) || !isAmong(layer.type, kOneThing);
  return true;
}

std::string kindOf(const ExecutionLayer& layer, const std::vector<const Node*>& nodes) {
  const auto found = kindsByType().find(layer.type);
  std::string kind(found == kindsByType().end() ? "" : found->second);
  if (kind.empty()) {
    for (const char c : layer.type) kind += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return kind;
  }
  if (kind != "pointwise" && kind != "norm") return kind;
  for (const Node* node : nodes) {  // a subgraph may contain more nodes, and there are many forms of norms
    const std::string_view alone = kindOfSingle(*node);
    if (kind == "norm" ? alone.ends_with("norm") : workOf(*node) == NodeWork::Product) return std::string(alone);
  }
  return kind;
}

}  // namespace fusescope
