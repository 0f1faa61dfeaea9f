#include "planning/kinds.h"

#include <map>

#include "ops/op_schema.h"

namespace fusescope {

namespace {

const std::map<std::string_view, std::string_view>& kindsByOperator() {
  static const std::map<std::string_view, std::string_view> kKinds{
      {"Conv", kinds::kConv},
      {"ConvTranspose", kinds::kConv},
      {"MatMul", kinds::kMatMul},
      {"Gemm", kinds::kGemm},
      {"Attention", kinds::kAttention},
      {"LayerNormalization", kinds::kLayerNorm},
      {"RMSNormalization", kinds::kRmsNorm},
      {"If", kinds::kIf},
      {"Loop", kinds::kLoop},
      {"Scan", kinds::kScan},
      {"Softmax", kinds::kSoftmax},
      {"LogSoftmax", kinds::kSoftmax},
      {"BatchNormalization", kinds::kBatchNorm},
      {"GroupNormalization", kinds::kGroupNorm},
      {"InstanceNormalization", kinds::kInstanceNorm},
      {"Transpose", kinds::kTranspose},
      {"Concat", kinds::kConcat},
      {"Split", kinds::kSplit},
      {"Slice", kinds::kSlice},
      {"Gather", kinds::kGather},
      {"GatherElements", kinds::kGather},
      {"GatherND", kinds::kGather},
      {"ScatterElements", kinds::kScatter},
      {"ScatterND", kinds::kScatter},
      {"Pad", kinds::kPad},
      {"Resize", kinds::kResize},
      {"Expand", kinds::kExpand},
      {"Tile", kinds::kExpand},
  };
  return kKinds;
}

std::string_view kindOfFamily(OpKind kind) {
  switch (kind) {
    case OpKind::Elementwise:
      return kinds::kPointwise;
    case OpKind::Convolution:
      return kinds::kConv;
    case OpKind::MatMul:
      return kinds::kOperator;
    case OpKind::Pooling:
      return kinds::kPool;
    case OpKind::Normalization:
      return kinds::kNorm;
    case OpKind::Softmax:
      return kinds::kSoftmax;
    case OpKind::Reduction:
      return kinds::kReduce;
    case OpKind::View:
      return kinds::kView;
    case OpKind::Shape:
      return kinds::kShape;
    case OpKind::Quantization:
      return kinds::kQuantize;
    case OpKind::ControlFlow:
      return kinds::kControlFlow;
    case OpKind::Recurrence:
      return kinds::kRecurrence;
    case OpKind::Random:
      return kinds::kRandom;
    case OpKind::Movement:
    case OpKind::Other:
      break;
  }
  return kinds::kOperator;
}

}  // namespace

std::string_view kindOfSingle(const Node& node) {
  if (node.domain.empty()) {
    const auto found = kindsByOperator().find(node.op);
    if (found != kindsByOperator().end()) return found->second;
  }
  const OpSchema* schema = OpRegistry::standard().find(node);
  return schema == nullptr ? kinds::kOperator : kindOfFamily(schema->kind);
}

std::vector<std::string_view> allKinds() {
  return {
#define KIND(NAME, TEXT, FAMILY) kinds::k##NAME,
#include "planning/fused_node_kinds.inc"
#undef KIND
  };
}

std::string_view kindFamily(std::string_view kind) {
  static const std::map<std::string_view, std::string_view> kFamilies{
#define KIND(NAME, TEXT, FAMILY) {TEXT, FAMILY},
#include "planning/fused_node_kinds.inc"
#undef KIND
      {"linear", kinds::kMatMul},  // a product that Torch-TensorRT leaves to torch
      {"reshape", kinds::kView},   // a view that it leaves to torch
      {"copy", kinds::kView},      // a layer of TensorRT
  };
  const auto found = kFamilies.find(kind);
  return found == kFamilies.end() ? "other" : found->second;
}

}  // namespace fusescope
