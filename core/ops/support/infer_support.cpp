#include "ops/support/infer_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ops/support/extent_arithmetic.h"

namespace fusescope::ops {
namespace {

constexpr std::array kOnnxTypes{
    DataType::Undefined,  DataType::F32,    DataType::U8,         DataType::I8,     DataType::U16,   DataType::I16,
    DataType::I32,        DataType::I64,    DataType::String,     DataType::Bool,   DataType::F16,   DataType::F64,
    DataType::U32,        DataType::U64,    DataType::C64,        DataType::C128,   DataType::BF16,  DataType::F8E4M3,
    DataType::F8E4M3FNUZ, DataType::F8E5M2, DataType::F8E5M2FNUZ, DataType::U4,     DataType::I4,    DataType::F4E2M1,
    DataType::F8E8M0,     DataType::U2,     DataType::I2,         DataType::F6E2M3, DataType::F6E3M2};

std::string extentText(const Dim& dim) {
  return dim.known() ? std::to_string(dim.size) : dim.symbol.empty() ? "?" : dim.symbol;
}

/// Returns the extent of one axis of two broadcast operands.
std::optional<Dim> broadcastDim(const Dim& a, const Dim& b) {
  if (a == b && (a.known() || !a.symbol.empty())) return a;
  if (a.known() && a.size == 1) return b;
  if (b.known() && b.size == 1) return a;
  if (a.known() && b.known()) return std::nullopt;
  if (a.known()) return a;  // the other extent must be 1 or equal
  if (b.known()) return b;
  return broadcastExtent(a, b);
}

}  // namespace

std::optional<DataType> dataTypeFromOnnx(std::int64_t number) {
  if (number < 1 || number >= static_cast<std::int64_t>(kOnnxTypes.size())) return std::nullopt;
  return kOnnxTypes[static_cast<std::size_t>(number)];
}

std::int64_t onnxNumber(DataType type) {
  return std::find(kOnnxTypes.begin(), kOnnxTypes.end(), type) - kOnnxTypes.begin();
}

Result<DataType> typeAttribute(const Node& node, const std::string& key, DataType otherwise) {
  if (!node.hasAttribute(key)) return otherwise;
  const std::int64_t number = node.intAttribute(key, 0);
  const auto type = dataTypeFromOnnx(number);
  if (!type)
    return attributeProblem(key,
                            fmt::format("{} is not the number of an ONNX element type that Fusescope knows", number));
  return *type;
}

Result<std::string> choiceAttribute(const Node& node, const std::string& key, const std::string& otherwise,
                                    std::initializer_list<std::string_view> allowed) {
  std::string text = node.textAttribute(key, otherwise);
  if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return text;
  std::string choices;
  for (const auto choice : allowed) choices += (choices.empty() ? "" : ", ") + std::string(choice);
  return attributeProblem(key, fmt::format("'{}' is none of {}", text, choices));
}

Result<std::size_t> normalizedAxis(std::int64_t axis, std::size_t rank, const std::string& attribute) {
  const auto limit = static_cast<std::int64_t>(rank);
  if (axis < -limit || axis >= limit)
    return attributeProblem(attribute, fmt::format("axis {} is outside a tensor of rank {}", axis, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + limit : axis);
}

Result<std::vector<std::size_t>> normalizedAxes(const Ints& axes, std::size_t rank) {
  std::vector<std::size_t> result;
  for (const std::int64_t axis : axes) {
    const std::size_t from = TRY(normalizedAxis(axis, rank, "axes"));
    if (std::find(result.begin(), result.end(), from) != result.end())
      return attributeProblem("axes", fmt::format("axis {} is given twice", axis));
    result.push_back(from);
  }
  return result;
}

std::optional<Ints> knownInts(const InferContext& context, std::size_t i) {
  const Tensor* tensor = context.constant(i);
  if (tensor == nullptr || !tensor->hasData() || !(isInteger(tensor->type()) || tensor->type() == DataType::Bool))
    return std::nullopt;
  return int64Values(*tensor);
}

std::optional<std::int64_t> knownInt(const InferContext& context, std::size_t i) {
  const auto values = knownInts(context, i);
  if (!values || values->size() != 1) return std::nullopt;
  return values->front();
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  if (!a.ranked || !b.ranked) return Shape::unknown();
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  const std::size_t offset = longer.rank() - shorter.rank();
  for (std::size_t i = 0; i < shorter.rank(); ++i) {
    const auto dim = broadcastDim(longer.dims[offset + i], shorter.dims[i]);
    if (!dim)
      return problem(fmt::format("{} and {} cannot be broadcast together: extents {} and {} differ and neither is 1",
                                 TensorType{DataType::Undefined, a}.text().substr(9),
                                 TensorType{DataType::Undefined, b}.text().substr(9),
                                 extentText(longer.dims[offset + i]), extentText(shorter.dims[i])));
    result.dims[offset + i] = *dim;
  }
  return result;
}

Result<Shape> broadcastInputs(const InferContext& context) {
  Shape shape = context.input(0).shape;
  for (std::size_t i = 1; i < context.inputCount(); ++i) shape = TRY(broadcast(shape, context.input(i).shape));
  return shape;
}

Result<Types> inferBroadcast(const InferContext& context) {
  return one(context.input(0).dtype, TRY(broadcastInputs(context)));
}

Result<Dim> unified(const InferContext& context, const Dim& a, const Dim& b, std::string_view what) {
  if (a.known() && b.known() && a.size != b.size)
    return problem(fmt::format("{} must be equal, but are {} and {}", what, a.size, b.size));
  context.demand({.left = a, .right = b});
  return sameExtent(a, b);
}

Result<Dim> checkedExtent(std::int64_t extent, std::string_view what) {
  if (extent < 0) return problem(fmt::format("{} would be {}, but an extent cannot be negative", what, extent));
  return Dim(extent);
}

std::optional<std::int64_t> knownProduct(std::span<const Dim> dims) {
  Dims sizes;
  for (const Dim& dim : dims) {
    if (!dim.known()) return std::nullopt;
    sizes.push_back(dim.size);
  }
  return elementCount(sizes);
}

Shape unknownOfRank(std::size_t rank) {
  return Shape::of(std::vector<Dim>(rank));
}

Status requireRank(const InferContext& context, std::size_t input, std::size_t rank) {
  const Shape& shape = context.input(input).shape;
  if (shape.ranked && shape.rank() != rank)
    return problem(fmt::format("input {} has rank {}, expected {}", input, shape.rank(), rank));
  return Done{};
}

Status requireRankAtLeast(const InferContext& context, std::size_t input, std::size_t rank) {
  const Shape& shape = context.input(input).shape;
  if (shape.ranked && shape.rank() < rank)
    return problem(fmt::format("input {} has rank {}, expected at least {}", input, shape.rank(), rank));
  return Done{};
}

Result<Types> inferLikeFirst(const InferContext& context) {
  return Types{context.input(0)};
}

}  // namespace fusescope::ops
