// Operators about extents: their values, and tensors made from them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

constexpr std::int64_t kMostElementsOfRange = std::int64_t{1} << 40;

/// Returns the axes [first, last) that a Shape node reports, according to its attributes start and end.
std::pair<std::size_t, std::size_t> reportedAxes(const Node& node, std::size_t rank) {
  const auto limit = static_cast<std::int64_t>(rank);
  const auto clamped = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < -limit ? 0 : at < 0 ? at + limit : at, 0, limit);
  };
  const auto first = static_cast<std::size_t>(clamped(node.intAttribute("start", 0)));
  const auto last = static_cast<std::size_t>(clamped(node.intAttribute("end", limit)));
  return {first, std::max(first, last)};
}

Result<Types> inferShape(const InferContext& context) {
  const Shape& shape = context.input(0).shape;
  if (!shape.ranked) return one(DataType::I64, unknownOfRank(1));
  const auto [first, last] = reportedAxes(context.node(), shape.rank());
  return one(DataType::I64, Shape::of(Dims{static_cast<std::int64_t>(last - first)}));
}

Result<Tensors> shapeKernel(const KernelContext& context) {
  const Dims& dims = context.input(0).dims();
  const auto [first, last] = reportedAxes(context.node(), dims.size());
  return Tensors{Tensor::ofInt64(
      Dims(dims.begin() + static_cast<std::ptrdiff_t>(first), dims.begin() + static_cast<std::ptrdiff_t>(last)))};
}

Result<Types> inferSize(const InferContext&) {
  return one(DataType::I64, Shape::of(Dims{}));
}

Result<Tensors> sizeKernel(const KernelContext& context) {
  return Tensors{Tensor::ofInt64({context.input(0).count()}).reshaped({})};
}

/// Returns the attribute `value`: one element, 0.0F if it is absent.
Result<Tensor> fillValue(const Node& node) {
  const auto found = node.attributes.find("value");
  if (found == node.attributes.end()) return Tensor::scalar(0.0F);
  const auto* tensor = std::get_if<Tensor>(&found->second);
  if (tensor == nullptr || tensor->count() != 1 || !tensor->hasData() || tensor->type() == DataType::String)
    return attributeProblem("value", "must be a tensor of one number");
  return *tensor;
}

Result<Types> inferConstantOfShape(const InferContext& context) {
  TRY(requireRank(context, 0, 1));
  const DataType type = TRY(fillValue(context.node())).type();
  if (const auto dims = knownInts(context, 0)) {
    for (const std::int64_t extent : *dims)
      if (extent < 0) return problem(fmt::format("the shape contains {}, but an extent cannot be negative", extent));
    return one(type, Shape::of(*dims));
  }
  const Shape& shape = context.input(0).shape;
  if (shape.ranked && shape.dims[0].known() && shape.dims[0].size <= 64)
    return one(type, unknownOfRank(static_cast<std::size_t>(shape.dims[0].size)));
  return one(type, Shape::unknown());
}

Result<Tensors> constantOfShape(const KernelContext& context) {
  const Tensor value = TRY(fillValue(context.node())).converted(context.outputType(0));
  Tensor result = TRY(allocateOutput(context));
  const std::size_t size = value.byteSize();
  for (std::size_t at = 0; at < result.byteSize(); at += size)
    std::memcpy(result.mutableBytes() + at, value.bytes(), size);
  return Tensors{std::move(result)};
}

/// Returns the number of elements of start, start + delta, … below (or above) limit.
Result<std::int64_t> rangeCount(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  for (const Tensor* tensor : {&start, &limit, &delta})
    if (tensor->count() != 1) return problem("start, limit and delta must be single numbers");
  if (isInteger(start.type())) {
    const std::int64_t from = start.asInt64(0), to = limit.asInt64(0), by = delta.asInt64(0);
    if (by == 0) return problem("delta must not be 0");
    if (by > 0 ? to <= from : to >= from) return std::int64_t{0};
    const auto distance = by > 0 ? static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from)
                                 : static_cast<std::uint64_t>(from) - static_cast<std::uint64_t>(to);
    const auto stride = by > 0 ? static_cast<std::uint64_t>(by) : std::uint64_t{0} - static_cast<std::uint64_t>(by);
    const std::uint64_t count = (distance - 1) / stride + 1;
    if (count > static_cast<std::uint64_t>(kMostElementsOfRange)) return problem("the range has too many elements");
    return static_cast<std::int64_t>(count);
  }
  const double count = std::ceil((limit.asDouble(0) - start.asDouble(0)) / delta.asDouble(0));
  if (!std::isfinite(count) || count > static_cast<double>(kMostElementsOfRange))
    return problem("the range has too many elements, or its limit cannot be reached with this delta");
  return count > 0 ? static_cast<std::int64_t>(count) : 0;
}

Result<Types> inferRange(const InferContext& context) {
  const DataType type = context.input(0).dtype;
  const auto known = [&](std::size_t i) { return context.constant(i) != nullptr && context.constant(i)->hasData(); };
  if (!known(0) || !known(1) || !known(2)) return one(type, unknownOfRank(1));
  return one(type, Shape::of(Dims{TRY(rangeCount(*context.constant(0), *context.constant(1), *context.constant(2)))}));
}

Result<Tensors> range(const KernelContext& context) {
  Tensor result = TRY(allocateOutput(context));
  dispatchNumber(result.type(), [&]<class T>(std::type_identity<T>) {
    const T start = context.input(0).data<T>()[0], delta = context.input(2).data<T>()[0];
    const auto to = result.mutableData<T>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(start + static_cast<T>(i) * delta);
  });
  return Tensors{std::move(result)};
}

}  // namespace

void registerShape(OpRegistry& registry) {
  registry.add({.op = "ConstantOfShape",
                .kind = OpKind::Shape,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferConstantOfShape,
                .kernel = unpacked(constantOfShape),
                .signature = {"I", {{'I', kInt64Type}}}});
  registry.add({.op = "Range",
                .kind = OpKind::Shape,
                .minInputs = 3,
                .maxInputs = 3,
                .infer = inferRange,
                .kernel = widened(range),
                .signature = {"T", {{'T', kNumberTypes}}}});
  registry.add({.op = "Shape",
                .kind = OpKind::Shape,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferShape,
                .kernel = shapeKernel});
  registry.add(
      {.op = "Size", .kind = OpKind::Shape, .minInputs = 1, .maxInputs = 1, .infer = inferSize, .kernel = sizeKernel});
}

}  // namespace fusescope::ops
