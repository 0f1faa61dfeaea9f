#include "backends/native/lowering/code_scales.h"

#include "backends/native/lowering/tape_nodes.h"

namespace fusescope::native {

bool isQuantizationOfBytes(const RegionFacts& region, const Node& node) {
  return (node.is("QuantizeLinear") || node.is("DequantizeLinear")) && node.domain.empty() &&
         isTapeQuantization(region, node);
}

std::optional<CodeScale> codeScaleOf(const RegionFacts& region, const Node& node) {
  const ValueId scale = node.input(1), zero = node.input(2);
  const DataType type = region.typeOf(node.is("QuantizeLinear") ? node.outputs[0] : node.input(0));
  const ValueId floats = node.is("QuantizeLinear") ? node.input(0) : node.outputs[0];
  const bool fits = region.isKeptAsCodes(floats) || isQuantizationOfBytes(region, node);
  if (!fits || elementCount(region.dimsOf(scale)) != 1) return std::nullopt;
  return CodeScale{.scale = scale, .zero = zero.valid() ? region.constantNumber(zero).value_or(0) : 0, .type = type};
}

}  // namespace fusescope::native
