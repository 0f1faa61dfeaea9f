#include "ops/exact_types.h"

#include <algorithm>
#include <array>

#include "ir/graph.h"

namespace fusescope {

bool needsExactTypes(const Node& node) {
  constexpr std::array<std::string_view, 5> kOperators = {"BitCast", "CastLike", "DequantizeLinear", "QuantizeLinear",
                                                          "QLinearMatMul"};
  return node.domain.empty() && std::ranges::find(kOperators, node.op) != kOperators.end();
}

bool isConversionParameter(const Node& node, std::size_t i) {
  if (node.is("QLinearMatMul")) return i != 0 && i != 3;
  return i > 0 && needsExactTypes(node);
}

}  // namespace fusescope
