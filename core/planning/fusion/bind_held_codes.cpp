#include <algorithm>
#include <span>
#include <string>

#include "planning/fusion/kernel_nodes.h"

namespace fusescope {
namespace {

/// Returns whether the result of the node consists of unchanged elements of its inputs. MaxPool selects them by their
/// order, which codes preserve.
bool picks(const Node& node) {
  static const std::set<std::string, std::less<>> kOperators = {
      "MaxPool", "Concat", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Slice"};
  const auto results = std::ranges::count_if(node.outputs, [](ValueId value) { return value.valid(); });
  return node.domain.empty() && kOperators.contains(node.op) && results == 1;
}

std::span<const ValueId> dataOf(const Node& node) {
  return std::span(node.inputs).first(node.is("Concat") ? node.inputs.size() : 1);
}

/// Returns whether `value` could also be calculated as codes, as far as the nodes show this. Adds it to `floats`
/// together with all values on which it depends.
bool canBeCodes(const KernelNodes& nodes, ValueId value, std::vector<HeldCodesBinding::Float>& floats) {
  const auto made = nodes.maker(value), reader = nodes.onlyReader(value);
  if (!made || !reader) return false;
  const Node& maker = nodes.node(*made);
  floats.push_back({value, *made, *reader});
  if (maker.is("DequantizeLinear")) return true;
  return picks(maker) &&
         std::ranges::all_of(dataOf(maker), [&](ValueId data) { return canBeCodes(nodes, data, floats); });
}

}  // namespace

std::vector<HeldCodesBinding> bindHeldCodes(const KernelNodes& nodes) {
  std::vector<HeldCodesBinding> all;
  for (const NodeId id : nodes.fused().nodes) {
    const Node& quantize = nodes.node(id);
    const auto made = quantize.is("QuantizeLinear") ? nodes.maker(quantize.input(0)) : std::nullopt;
    if (!made || !picks(nodes.node(*made))) continue;
    HeldCodesBinding held{.quantize = id};
    if (canBeCodes(nodes, quantize.input(0), held.floats)) all.push_back(std::move(held));
  }
  return all;
}

}  // namespace fusescope
