#include "ops/greatest_elements.h"

#include <algorithm>

namespace fusescope {
namespace {

constexpr std::int64_t kMostElements = 65536;  // elements of a constant that is searched

/// Returns whether every element of the result is an element of the first input.
bool onlyMoves(const Node& node) {
  for (const char* op : {"Unsqueeze", "Squeeze", "Reshape", "Flatten", "Identity", "Expand", "Transpose", "Slice",
                         "Gather", "Tile", "Cast"})
    if (node.is(op)) return true;
  return false;
}

/// Returns the only element of input `i` if it is known.
const ExtentExpression* scalarAt(const SymbolicInputs& inputs, std::size_t i) {
  const bool given = i < inputs.values.size() && inputs.values[i] != nullptr && inputs.values[i]->size() == 1;
  return given && inputs.values[i]->front().valid() ? &inputs.values[i]->front() : nullptr;
}

/// Range(a, b, 1) ends before b.
std::optional<ExtentExpression> lastOfRange(const SymbolicInputs& inputs) {
  const ExtentExpression *limit = scalarAt(inputs, 1), *delta = scalarAt(inputs, 2);
  return limit != nullptr && delta != nullptr && delta->number() == 1 ? std::optional(*limit - 1) : std::nullopt;
}

}  // namespace

std::optional<ExtentExpression> GreatestElements::of(ValueId value, const Known& known) const {
  if (!value.valid()) return std::nullopt;
  if (const auto found = m_greatest.find(value); found != m_greatest.end()) return found->second;
  const Tensor* tensor = known[value.index].get();
  const bool whole = tensor != nullptr && (tensor->type() == DataType::I64 || tensor->type() == DataType::I32);
  if (!whole || !tensor->hasData() || tensor->count() == 0 || tensor->count() > kMostElements) return std::nullopt;
  std::int64_t greatest = tensor->asInt64(0);
  for (std::int64_t i = 1; i < tensor->count(); ++i) greatest = std::max(greatest, tensor->asInt64(i));
  return greatest;
}

std::optional<ExtentExpression> GreatestElements::resultOf(const Node& node, const SymbolicInputs& inputs,
                                                           const Known& known) const {
  if (node.is("Range")) return lastOfRange(inputs);
  if (onlyMoves(node)) return of(node.input(0), known);
  if (!node.is("Add")) return std::nullopt;
  const auto a = of(node.input(0), known), b = of(node.input(1), known);
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

void GreatestElements::visit(const Node& node, const SymbolicInputs& inputs, const Known& known,
                             std::vector<ExtentDemand>& demands) {
  if (node.outputs.size() != 1 || !node.outputs[0].valid()) return;
  m_greatest.erase(node.outputs[0]);
  if (node.is("Gather") && inputs.types[0] != nullptr && inputs.types[0]->shape.ranked) {
    const Shape& table = inputs.types[0]->shape;
    const auto rank = static_cast<std::int64_t>(table.rank());
    const std::int64_t axis = node.intAttribute("axis", 0), place = axis < 0 ? axis + rank : axis;
    const auto greatest = of(node.input(1), known);
    if (greatest && place >= 0 && place < rank)
      demands.push_back(
          {.left = (*greatest + 1).dim(), .right = table.dims[static_cast<std::size_t>(place)], .atMost = true});
  }
  auto result = resultOf(node, inputs, known);
  if (result && result->valid()) m_greatest.insert_or_assign(node.outputs[0], std::move(*result));
}

}  // namespace fusescope
