#include "tests/property/movements.h"

#include <algorithm>
#include <array>

namespace fusescope::property {

namespace {

using Operands = std::vector<const Array*>;

constexpr std::array<std::string_view, 9> kMovements = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose",
                                                        "Concat",  "Split",   "Slice",   "Gather"};

/// Calls visit(place, indices) for each element of a tensor.
template <class Visit>
void eachIndex(const Dims& dims, const Visit& visit) {
  const auto strides = stridesOf(dims);
  const auto count = static_cast<std::size_t>(elementCount(dims).value());
  std::vector<std::int64_t> indices(dims.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < dims.size(); ++k) indices[k] = static_cast<std::int64_t>(i) / strides[k] % dims[k];
    visit(i, indices);
  }
}

double at(const Array& array, const std::vector<std::int64_t>& indices) {
  const auto strides = stridesOf(array.dims);
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < indices.size(); ++k) offset += indices[k] * strides[k];
  return array.values[static_cast<std::size_t>(offset)];
}

Array transpose(const Node& node, const Dims& dims, const Array& x) {
  const auto order = node.intsAttribute("perm");
  Array result = zeros(dims);
  std::vector<std::int64_t> from(dims.size());
  eachIndex(dims, [&](std::size_t i, const std::vector<std::int64_t>& to) {
    for (std::size_t k = 0; k < to.size(); ++k) from[static_cast<std::size_t>(order[k])] = to[k];
    result.values[i] = at(x, from);
  });
  return result;
}

/// A part of `x` that begins at `start` along `axis`.
Array part(const Array& x, const Dims& dims, std::size_t axis, std::int64_t start) {
  Array result = zeros(dims);
  eachIndex(dims, [&](std::size_t i, std::vector<std::int64_t> indices) {
    indices[axis] += start;
    result.values[i] = at(x, indices);
  });
  return result;
}

Array concat(const Dims& dims, std::size_t axis, const Operands& operands) {
  Array result = zeros(dims);
  eachIndex(dims, [&](std::size_t i, std::vector<std::int64_t> indices) {
    std::size_t which = 0;
    while (indices[axis] >= operands[which]->dims[axis]) indices[axis] -= operands[which++]->dims[axis];
    result.values[i] = at(*operands[which], indices);
  });
  return result;
}

std::optional<Array> gather(const Dims& dims, std::size_t axis, const Array& x, const Array& indices) {
  Array result = zeros(dims);
  bool inRange = true;
  eachIndex(dims, [&](std::size_t i, const std::vector<std::int64_t>& to) {
    const auto first = to.begin() + static_cast<std::ptrdiff_t>(axis);
    const auto last = first + static_cast<std::ptrdiff_t>(indices.dims.size());
    const double index = at(indices, {first, last});
    std::vector<std::int64_t> from(to.begin(), first);
    inRange = inRange && index >= 0 && index < static_cast<double>(x.dims[axis]);
    from.push_back(inRange ? static_cast<std::int64_t>(index) : 0);
    from.insert(from.end(), last, to.end());
    result.values[i] = at(x, from);
  });
  return inRange ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

bool isMovement(std::string_view op) {
  return std::ranges::find(kMovements, op) != kMovements.end();
}

std::optional<std::vector<Array>> calculateMovement(const Graph& graph, const Node& node, const Operands& operands) {
  if (!isMovement(node.op)) return std::nullopt;
  const auto dimsOf = [&](std::size_t i) { return graph.value(node.outputs[i]).type.shape.fixed().value(); };
  const Array& x = *operands[0];
  const auto rank = static_cast<std::int64_t>(x.dims.size());
  const auto axis = [&](std::int64_t given) { return static_cast<std::size_t>(given < 0 ? given + rank : given); };
  if (node.is("Transpose")) return std::vector{transpose(node, dimsOf(0), x)};
  if (node.is("Concat")) return std::vector{concat(dimsOf(0), axis(node.intAttribute("axis", 0)), operands)};
  if (node.is("Slice"))
    return std::vector{part(x, dimsOf(0), axis(static_cast<std::int64_t>(operands[3]->values[0])),
                            static_cast<std::int64_t>(operands[1]->values[0]))};
  if (node.is("Split")) {
    std::vector<Array> parts;
    std::int64_t start = 0;
    const std::size_t along = axis(node.intAttribute("axis", 0));
    for (std::size_t i = 0; i < node.outputs.size(); start += dimsOf(i++)[along])
      parts.push_back(part(x, dimsOf(i), along, start));
    return parts;
  }
  if (node.is("Gather")) {
    auto gathered = gather(dimsOf(0), axis(node.intAttribute("axis", 0)), x, *operands[1]);
    return gathered ? std::optional(std::vector{std::move(*gathered)}) : std::nullopt;
  }
  return std::vector{Array{dimsOf(0), x.values}};
}

}  // namespace fusescope::property
