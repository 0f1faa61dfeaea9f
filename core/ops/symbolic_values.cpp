#include "ops/symbolic_values.h"

#include <algorithm>
#include <functional>

#include "ops/support/extent_arithmetic.h"
#include "ops/support/extent_product.h"
#include "ops/support/infer_support.h"

namespace fusescope {
namespace {

constexpr std::int64_t kLongest = 64;  // elements of a value that may be a shape

bool countsExtents(DataType type) {
  return type == DataType::I64 || type == DataType::I32 || type == DataType::Bool;
}

/// Returns the number of elements of a value of this type, if it may be a shape.
std::optional<std::size_t> lengthOf(const TensorType& type) {
  if (type.container != Container::None || !countsExtents(type.dtype) || !type.shape.ranked || type.shape.rank() > 1)
    return std::nullopt;
  if (type.shape.rank() == 0) return 1;
  const Dim& length = type.shape.dims[0];
  return length.known() && length.size <= kLongest ? std::optional(static_cast<std::size_t>(length.size))
                                                   : std::nullopt;
}

const TensorType* typeAt(const SymbolicInputs& inputs, std::size_t i) {
  return i < inputs.types.size() ? inputs.types[i] : nullptr;
}

bool isGiven(const SymbolicInputs& inputs, std::size_t i) {
  return typeAt(inputs, i) != nullptr;
}

/// Returns the elements of input `i`; they are unknown if only their number is known.
std::optional<SymbolicInts> elementsOf(const SymbolicInputs& inputs, std::size_t i) {
  if (i < inputs.values.size() && inputs.values[i] != nullptr) return *inputs.values[i];
  const TensorType* type = typeAt(inputs, i);
  const auto length = type == nullptr ? std::nullopt : lengthOf(*type);
  return length ? std::optional(SymbolicInts(*length, ExtentExpression::invalid())) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> numbersOf(const SymbolicInputs& inputs, std::size_t i) {
  const auto elements = elementsOf(inputs, i);
  if (!elements) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const ExtentExpression& element : *elements) {
    const auto number = element.number();
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

/// ONNX's Div of integers truncates; for numbers that are not negative this is rounding down.
ExtentExpression quotient(const ExtentExpression& a, const ExtentExpression& b) {
  const auto x = a.number(), y = b.number();
  if (x && y) return *y == 0 || *y == -1 ? ExtentExpression::invalid() : ExtentExpression(*x / *y);
  if (leastOf(a).value_or(-1) < 0 || leastOf(b).value_or(-1) < 1) return ExtentExpression::invalid();
  return floorDivided(a, b);
}

/// The operands must not be negative.
ExtentExpression remainder(const ExtentExpression& a, const ExtentExpression& b) {
  return a - b * quotient(a, b);
}

ExtentExpression least(const ExtentExpression& a, const ExtentExpression& b) {
  return applied(ExtentExpression::Function::Minimum, {a, b});
}

ExtentExpression greatest(const ExtentExpression& a, const ExtentExpression& b) {
  if (leastOf(a - b, 0).value_or(-1) >= 0) return a;
  if (leastOf(b - a, 0).value_or(-1) >= 0) return b;
  return applied(ExtentExpression::Function::Maximum, {a, b});
}

ExtentExpression truth(bool holds) {
  return holds ? 1 : 0;
}

ExtentExpression equality(const ExtentExpression& a, const ExtentExpression& b) {
  if (!a.valid() || !b.valid()) return ExtentExpression::invalid();
  if (a == b) return truth(true);
  const bool apart = leastOf(a - b, 0).value_or(0) > 0 || leastOf(b - a, 0).value_or(0) > 0;
  const auto difference = (a - b).number();
  return apart || (difference && *difference != 0) ? truth(false) : ExtentExpression::invalid();
}

ExtentExpression isLess(const ExtentExpression& a, const ExtentExpression& b) {
  if (leastOf(b - a, 0).value_or(0) > 0) return truth(true);
  return leastOf(a - b, 0).value_or(-1) >= 0 ? truth(false) : ExtentExpression::invalid();
}

ExtentExpression inverse(const ExtentExpression& a) {
  const auto known = a.number();
  return known ? truth(*known == 0) : ExtentExpression::invalid();
}

using Results = std::optional<SymbolicInts>;

template <class Combine>
Results elementwise(const SymbolicInputs& inputs, std::size_t length, Combine combine) {
  const auto a = elementsOf(inputs, 0), b = elementsOf(inputs, 1);
  if (!a || !b || (a->size() != length && a->size() != 1) || (b->size() != length && b->size() != 1))
    return std::nullopt;
  SymbolicInts result;
  for (std::size_t i = 0; i < length; ++i)
    result.push_back(combine((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
  return result;
}

Results shapeOf(const Node& node, const SymbolicInputs& inputs) {
  const TensorType* x = typeAt(inputs, 0);
  if (x == nullptr || !x->shape.ranked || x->container != Container::None) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(x->shape.rank());
  const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t end = place(node.intAttribute("end", rank));
  SymbolicInts result;
  for (std::int64_t i = place(node.intAttribute("start", 0)); i < end; ++i)
    result.push_back(ExtentExpression::of(x->shape.dims[static_cast<std::size_t>(i)]));
  return result;
}

Results sizeOf(const SymbolicInputs& inputs) {
  const TensorType* x = typeAt(inputs, 0);
  if (x == nullptr || !x->shape.ranked || x->container != Container::None) return std::nullopt;
  const auto count = ops::missingExtent(x->shape.dims, {});
  return SymbolicInts{count.ok() ? ExtentExpression::of(count.value()) : ExtentExpression::invalid()};
}

Results gathered(const SymbolicInputs& inputs) {
  const auto from = elementsOf(inputs, 0);
  const auto places = numbersOf(inputs, 1);
  if (!from || !places) return std::nullopt;
  const auto length = static_cast<std::int64_t>(from->size());
  SymbolicInts result;
  for (std::int64_t place : *places) {
    if (place < 0) place += length;
    if (place < 0 || place >= length) return std::nullopt;
    result.push_back((*from)[static_cast<std::size_t>(place)]);
  }
  return result;
}

Results sliced(const SymbolicInputs& inputs) {
  const auto from = elementsOf(inputs, 0);
  const auto starts = numbersOf(inputs, 1), ends = numbersOf(inputs, 2);
  const auto steps = isGiven(inputs, 4) ? numbersOf(inputs, 4) : std::vector<std::int64_t>{1};
  if (!from || !starts || !ends || !steps || starts->size() != 1 || ends->size() != 1 || *steps != std::vector{1L})
    return std::nullopt;
  const auto length = static_cast<std::int64_t>(from->size());
  const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + length : at, 0, length); };
  const std::int64_t first = place(starts->front()), last = std::max(first, place(ends->front()));
  return SymbolicInts(from->begin() + first, from->begin() + last);
}

Results concatenated(const Node& node, const SymbolicInputs& inputs) {
  SymbolicInts result;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const auto part = elementsOf(inputs, i);
    if (!part) return std::nullopt;
    result.insert(result.end(), part->begin(), part->end());
  }
  return result;
}

Results chosen(const SymbolicInputs& inputs, std::size_t length) {
  const auto condition = elementsOf(inputs, 0), yes = elementsOf(inputs, 1), no = elementsOf(inputs, 2);
  if (!condition || !yes || !no) return std::nullopt;
  for (const auto* part : {&*condition, &*yes, &*no})
    if (part->size() != length && part->size() != 1) return std::nullopt;
  const auto at = [](const SymbolicInts& part, std::size_t i) { return part[part.size() == 1 ? 0 : i]; };
  SymbolicInts result;
  for (std::size_t i = 0; i < length; ++i) {
    const ExtentExpression which = at(*condition, i), a = at(*yes, i), b = at(*no, i);
    const auto known = which.number();
    result.push_back(known ? (*known != 0 ? a : b) : a == b ? a : ExtentExpression::invalid());
  }
  return result;
}

Results multiplied(const SymbolicInputs& inputs) {
  const auto factors = elementsOf(inputs, 0);
  if (!factors) return std::nullopt;
  ExtentExpression result = 1;
  for (const ExtentExpression& factor : *factors) result = result * factor;
  return SymbolicInts{result};
}

Results inverted(const SymbolicInputs& inputs) {
  const auto values = elementsOf(inputs, 0);
  if (!values) return std::nullopt;
  SymbolicInts result;
  for (const ExtentExpression& value : *values) result.push_back(inverse(value));
  return result;
}

Results resultOf(const Node& node, const SymbolicInputs& inputs, std::size_t length) {
  const std::string_view op = node.op;
  if (op == "Shape") return shapeOf(node, inputs);
  if (op == "Size") return sizeOf(inputs);
  if (op == "Gather") return gathered(inputs);
  if (op == "Slice") return sliced(inputs);
  if (op == "Concat") return concatenated(node, inputs);
  if (op == "Identity" || op == "Cast" || op == "Squeeze" || op == "Unsqueeze" || op == "Reshape")
    return elementsOf(inputs, 0);
  if (op == "ReduceProd" && length == 1) return multiplied(inputs);
  if (op == "Add") return elementwise(inputs, length, std::plus<>());
  if (op == "Sub") return elementwise(inputs, length, std::minus<>());
  if (op == "Mul") return elementwise(inputs, length, std::multiplies<>());
  if (op == "Div") return elementwise(inputs, length, quotient);
  if (op == "Mod" && node.intAttribute("fmod", 0) == 0) return elementwise(inputs, length, remainder);
  if (op == "Min" && node.inputs.size() == 2) return elementwise(inputs, length, least);
  if (op == "Max" && node.inputs.size() == 2) return elementwise(inputs, length, greatest);
  if (op == "Equal") return elementwise(inputs, length, equality);
  if (op == "Less") return elementwise(inputs, length, isLess);
  if (op == "Greater") return elementwise(inputs, length, [](const auto& a, const auto& b) { return isLess(b, a); });
  if (op == "Not") return inverted(inputs);
  if (op == "Where") return chosen(inputs, length);
  return std::nullopt;
}

std::vector<Dim> extentsFrom(const SymbolicInts& values) {
  std::vector<Dim> dims;
  for (const ExtentExpression& value : values) dims.push_back(value.dim());
  return dims;
}

/// Returns the shape for a Reshape to 0 (copy), -1 (the rest), numbers and symbols. A single unknown entry is then the
/// rest as well.
Shape reshaped(const Node& node, const Shape& x, const SymbolicInts& wanted) {
  const bool copies = node.intAttribute("allowzero", 0) == 0;
  std::vector<Dim> dims = extentsFrom(wanted);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (wanted[i].number() == 0 && copies) dims[i] = i < x.rank() ? x.dims[i] : Dim();
    if (!wanted[i].valid() || wanted[i].number() == -1) open.push_back(i);
  }
  if (open.size() != 1 || !x.ranked) return Shape::of(std::move(dims));
  std::vector<Dim> rest = dims;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(open[0]));
  const auto missing = ops::missingExtent(x.dims, rest);
  if (missing.ok()) dims[open[0]] = missing.value();
  return Shape::of(std::move(dims));
}

Shape slicedShape(const SymbolicInputs& inputs, const Shape& x) {
  const auto starts = elementsOf(inputs, 1), ends = elementsOf(inputs, 2);
  const auto axes = isGiven(inputs, 3) ? numbersOf(inputs, 3) : std::nullopt;
  const auto steps = isGiven(inputs, 4) ? elementsOf(inputs, 4) : std::nullopt;
  if (!starts || !ends || starts->size() != ends->size() || (isGiven(inputs, 3) && !axes)) return {};
  Shape shape = x;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    std::int64_t axis = axes && i < axes->size() ? (*axes)[i] : static_cast<std::int64_t>(i);
    if (axis < 0) axis += static_cast<std::int64_t>(x.rank());
    if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank())) return {};
    const bool single = !isGiven(inputs, 4) || (steps && i < steps->size() && (*steps)[i].number() == 1);
    Dim& dim = shape.dims[static_cast<std::size_t>(axis)];
    dim = single ? ops::cutExtent(dim, (*starts)[i], (*ends)[i]) : Dim();
  }
  return shape;
}

Shape tiled(const Shape& x, const SymbolicInts& repeats) {
  if (repeats.size() != x.rank()) return {};
  Shape shape = x;
  for (std::size_t i = 0; i < repeats.size(); ++i) shape.dims[i] = (ExtentExpression::of(x.dims[i]) * repeats[i]).dim();
  return shape;
}

Shape resized(const Node& node, const Shape& x, const SymbolicInts& sizes) {
  if (node.textAttribute("keep_aspect_ratio_policy", "stretch") != "stretch") return {};
  std::vector<std::int64_t> axes = node.intsAttribute("axes");
  if (axes.empty())
    for (std::size_t i = 0; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (axes.size() != sizes.size()) return {};
  Shape shape = x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(x.rank()) : axes[i];
    if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank())) return {};
    shape.dims[static_cast<std::size_t>(axis)] = sizes[i].dim();
  }
  return shape;
}

/// Range(a, b, 1) has b - a elements.
Shape counted(const SymbolicInputs& inputs) {
  const auto start = elementsOf(inputs, 0), limit = elementsOf(inputs, 1), delta = elementsOf(inputs, 2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || delta->size() != 1) return {};
  if ((*delta)[0].number() != 1) return {};
  return Shape::of({greatest((*limit)[0] - (*start)[0], 0).dim()});
}

Shape expanded(const Shape& x, const SymbolicInts& wanted) {
  const auto shape = ops::broadcast(x, Shape::of(extentsFrom(wanted)));
  return shape.ok() ? shape.value() : Shape();
}

/// Returns the shape of the first output as far as the elements of the inputs determine it; it is unranked if they do
/// not.
Shape decidedShape(const Node& node, const SymbolicInputs& inputs) {
  const std::string_view op = node.op;
  const TensorType* x = typeAt(inputs, 0);
  if (x == nullptr) return {};
  if (op == "Range") return counted(inputs);
  if (op == "ConstantOfShape") {
    const auto extents = elementsOf(inputs, 0);
    return extents ? Shape::of(extentsFrom(*extents)) : Shape();
  }
  const bool resize = op == "Resize";
  if (!resize && op != "Reshape" && op != "Expand" && op != "Tile" && op != "Slice") return {};
  const auto wanted = elementsOf(inputs, resize ? 3 : 1);
  if (!wanted) return {};
  if (op == "Reshape") return reshaped(node, x->shape, *wanted);
  if (!x->shape.ranked) return {};
  if (op == "Expand") return expanded(x->shape, *wanted);
  if (op == "Tile") return tiled(x->shape, *wanted);
  return resize ? resized(node, x->shape, *wanted) : slicedShape(inputs, x->shape);
}

bool isOpen(const Shape& shape) {
  return !shape.ranked ||
         std::ranges::any_of(shape.dims, [](const Dim& dim) { return !dim.known() && dim.symbol.empty(); });
}

}  // namespace

std::optional<SymbolicInts> symbolicOf(const Tensor& tensor) {
  if (!lengthOf(typeOf(tensor)) || !tensor.hasData()) return std::nullopt;
  SymbolicInts values;
  for (std::int64_t i = 0; i < tensor.count(); ++i) values.emplace_back(tensor.asInt64(i));
  return values;
}

std::optional<Tensor> tensorOf(const SymbolicInts& values, const TensorType& type) {
  const auto length = lengthOf(type);
  if (!length || *length != values.size()) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const ExtentExpression& value : values) {
    const auto number = value.number();
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return Tensor::ofInt64(std::move(numbers)).converted(type.dtype).reshaped(*type.shape.fixed());
}

std::optional<SymbolicInts> symbolicResult(const Node& node, const SymbolicInputs& inputs, const TensorType& output) {
  const auto length = node.domain.empty() ? lengthOf(output) : std::nullopt;
  if (!length || (node.is("Cast") && output.dtype == DataType::Bool)) return std::nullopt;
  auto values = resultOf(node, inputs, *length);
  if (!values || values->size() != *length) return std::nullopt;
  if (std::ranges::none_of(*values, &ExtentExpression::valid)) return std::nullopt;
  return values;
}

Shape completedShape(const Node& node, const SymbolicInputs& inputs, const Shape& computed) {
  if (!node.domain.empty() || !isOpen(computed)) return computed;
  Shape decided = decidedShape(node, inputs);
  if (!decided.ranked) return computed;
  if (!computed.ranked) return decided;
  if (decided.rank() != computed.rank()) return computed;
  for (std::size_t i = 0; i < computed.rank(); ++i)
    if (computed.dims[i].known() || !computed.dims[i].symbol.empty()) decided.dims[i] = computed.dims[i];
  return decided;
}

}  // namespace fusescope
