#include <algorithm>
#include <array>

#include "ir/graph.h"
#include "planning/fusion/kernel_nodes.h"
#include "planning/fusion/match.h"

namespace fusescope {
namespace {

/// Returns whether the value is a constant, or nodes inside calculate it from constants only.
bool isFixed(const KernelNodes& nodes, ValueId value) {
  if (nodes.graph().isConstant(value)) return true;
  const auto made = nodes.maker(value);
  return made && std::ranges::all_of(nodes.node(*made).inputs,
                                     [&](ValueId input) { return !input.valid() || isFixed(nodes, input); });
}

bool isNumber(const KernelNodes& nodes, ValueId value) {
  if (!value.valid() || !isFixed(nodes, value)) return false;
  const auto extents = nodes.graph().value(value).type.shape.fixed();
  return extents && elementCount(*extents) == 1;
}

/// Returns the operand that a Mul or Div by a number scales; invalid if the node is neither.
ValueId scaledBy(const KernelNodes& nodes, const Node& node) {
  if (!node.is("Mul") && !node.is("Div")) return {};
  if (isNumber(nodes, node.input(1)) && !isNumber(nodes, node.input(0))) return node.input(0);
  return node.is("Mul") && isNumber(nodes, node.input(0)) && !isNumber(nodes, node.input(1)) ? node.input(1)
                                                                                             : ValueId();
}

/// Returns what a kernel can do while it reads an operand of the first product.
std::vector<AttentionBinding::Above> above(const KernelNodes& nodes, ValueId operand) {
  std::vector<AttentionBinding::Above> all;
  for (auto made = nodes.maker(operand); made; made = nodes.maker(operand)) {
    const Node& node = nodes.node(*made);
    if (nodes.readers(operand).size() != 1 || nodes.isOutput(operand)) break;
    const ValueId scaled = scaledBy(nodes, node);
    const bool moves = isView(nodes.graph(), node) || node.is("Transpose") || isFloatCast(nodes.graph(), node);
    if (!scaled.valid() && !moves) break;
    all.push_back({.node = *made, .source = scaled.valid() ? scaled : node.input(0), .scales = scaled.valid()});
    operand = all.back().source;
  }
  return all;
}

}  // namespace

AttentionBinding bindAttention(const KernelNodes& nodes) {
  const Bindings& bindings = nodes.fused().bindings;
  const Binding* scores = findBinding(bindings, roles::kScores);
  const Binding* product = findBinding(bindings, roles::kProduct);
  const Binding* softmax = findBinding(bindings, roles::kSoftmax);
  const auto isInside = [&](const Binding* binding) { return binding != nullptr && nodes.has(binding->node); };
  if (!isInside(scores) || !isInside(product) || !isInside(softmax)) return {};
  AttentionBinding attention{.nodes = nodes.between(scores->value, product->value)};
  if (attention.nodes.empty()) return {};
  attention.nodes.insert(attention.nodes.begin(), scores->node);
  if (!nodes.leaveOnly(attention.nodes, product->value)) return {};
  attention.behindSoftmax = nodes.between(softmax->value, nodes.node(product->node).input(0));
  attention.query = above(nodes, nodes.node(scores->node).input(0));
  attention.key = above(nodes, nodes.node(scores->node).input(1));
  return attention;
}

}  // namespace fusescope
