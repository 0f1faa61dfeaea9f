#include "planning/kinds.h"

#include <map>

#include "ops/op_schema.h"

namespace fusescope {

namespace {

const std::map<std::string_view, std::string_view>& kindsByOperator() {
  static const std::map<std::string_view, std::string_view> kKinds{
      {"Conv", "conv"},
      {"ConvTranspose", "conv"},
      {"MatMul", "matmul"},
      {"Gemm", "gemm"},
      {"Attention", "attention"},
      {"LayerNormalization", "layer_norm"},
      {"RMSNormalization", "rms_norm"},
      {"If", "if"},
      {"Loop", "loop"},
      {"Scan", "scan"},
      {"Softmax", "softmax"},
      {"LogSoftmax", "softmax"},
      {"BatchNormalization", "batch_norm"},
      {"GroupNormalization", "group_norm"},
      {"InstanceNormalization", "instance_norm"},
      {"Transpose", "transpose"},
      {"Concat", "concat"},
      {"Split", "split"},
      {"Slice", "slice"},
      {"Gather", "gather"},
      {"GatherElements", "gather"},
      {"GatherND", "gather"},
      {"ScatterElements", "scatter"},
      {"ScatterND", "scatter"},
      {"Pad", "pad"},
      {"Resize", "resize"},
      {"Expand", "expand"},
      {"Tile", "expand"},
  };
  return kKinds;
}

std::string_view kindOfFamily(OpKind kind) {
  switch (kind) {
    case OpKind::Elementwise:
      return "pointwise";
    case OpKind::Convolution:
      return "conv";
    case OpKind::MatMul:
      return "operator";
    case OpKind::Pooling:
      return "pool";
    case OpKind::Normalization:
      return "norm";
    case OpKind::Softmax:
      return "softmax";
    case OpKind::Reduction:
      return "reduce";
    case OpKind::View:
      return "view";
    case OpKind::Shape:
      return "shape";
    case OpKind::Quantization:
      return "quantize";
    case OpKind::ControlFlow:
      return "control_flow";
    case OpKind::Recurrence:
      return "recurrence";
    case OpKind::Random:
      return "random";
    case OpKind::Movement:
    case OpKind::Other:
      break;
  }
  return "operator";
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

std::vector<std::string> allKinds() {
  return {"conv",      "matmul",     "gemm",       "attention",     "layer_norm",   "rms_norm",   "rotary", "softmax",
          "pointwise", "batch_norm", "group_norm", "instance_norm", "norm",         "pool",       "reduce", "concat",
          "split",     "slice",      "gather",     "scatter",       "pad",          "resize",     "expand", "quantize",
          "shape",     "if",         "loop",       "scan",          "control_flow", "recurrence", "random", "view",
          "transpose", "operator"};
}

}  // namespace fusescope
