// Conversions between floats and types of few bits, with a scale and a zero point.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/float_bits.h"
#include "ops/families.h"
#include "ops/support/dynamic_scale.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/quantized_range.h"
#include "ops/support/strided.h"

namespace fusescope::ops {
namespace {

constexpr TypeSet kQuantized =
    kPackedIntegerTypes | kPackedFloatTypes | kFnuzTypes |
    TypeSet{DataType::I8, DataType::U8, DataType::I16, DataType::U16, DataType::F8E4M3, DataType::F8E5M2};

/// Which scale each element of a tensor uses: one for all, one per index of an axis, or one per block along an axis.
struct ScaleGrid {
  Dims strides;  ///< of the scale tensor, over the axes of the data
  Dims blocks;   ///< how many indices of the data share an index of the scale, along each axis

  static Result<ScaleGrid> of(const Node& node, const Dims& data, const Dims& scale) {
    ScaleGrid grid{Dims(data.size(), 0), Dims(data.size(), 1)};
    const std::int64_t block = node.intAttribute("block_size", 0);
    if (block < 0) return attributeProblem("block_size", fmt::format("is {}, but it must not be negative", block));
    if (elementCount(scale) == 1 && scale.size() <= 1 && block == 0) return grid;
    const bool onlyAxis = data.size() == 1 && !node.hasAttribute("axis");
    const std::size_t axis = onlyAxis ? 0 : TRY(normalizedAxis(node.intAttribute("axis", 1), data.size()));
    if (block == 0) {
      if (scale.size() != 1)
        return problem(fmt::format("scales of extents {} need the attribute block_size", toText(scale)));
      if (scale[0] != data[axis])
        return problem(fmt::format("the node has {} scales, but the axis has extent {}", scale[0], data[axis]));
      grid.strides[axis] = 1;
      return grid;
    }
    if (scale.size() != data.size() || scale[axis] != data[axis] / block + (data[axis] % block != 0 ? 1 : 0))
      return problem(fmt::format("scales of extents {} do not fit data of extents {} in blocks of {}", toText(scale),
                                 toText(data), block));
    grid.strides = denseStrides(scale);
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (i != axis && scale[i] != data[i])
        return problem(fmt::format("scales of extents {} do not fit data of extents {}", toText(scale), toText(data)));
    }
    grid.blocks[axis] = block;
    return grid;
  }
  std::int64_t at(const Dims& index) const {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] / blocks[i] * strides[i];
    return offset;
  }
};

Status checkScale(const InferContext& context) {
  const auto data = context.input(0).shape.fixed(), scale = context.input(1).shape.fixed();
  if (data && scale) TRY(ScaleGrid::of(context.node(), *data, *scale));
  const auto zero = context.hasInput(2) ? context.input(2).shape.fixed() : scale;
  if (zero && scale && zero != scale && (elementCount(*zero) != 1 || elementCount(*scale) != 1))
    return problem("scale and zero point have different extents");
  return Done{};
}

Result<Types> inferQuantize(const InferContext& context) {
  TRY(checkScale(context));
  TRY(typeAttribute(context.node(), "precision", DataType::Undefined));
  const DataType named = TRY(typeAttribute(context.node(), "output_dtype", DataType::Undefined));
  const DataType zero = context.hasInput(2) ? context.input(2).dtype : DataType::Undefined;
  if (named != DataType::Undefined && zero != DataType::Undefined && named != zero)
    return attributeProblem("output_dtype", fmt::format("is {}, but the zero point is {}", name(named), name(zero)));
  const DataType type = context.hasInput(2) ? zero : named == DataType::Undefined ? DataType::U8 : named;
  if (type != DataType::Undefined && !kQuantized.contains(type))
    return attributeProblem("output_dtype", fmt::format("quantising to {} is not defined", name(type)));
  return one(type, context.input(0).shape);
}

Result<Types> inferDequantize(const InferContext& context) {
  TRY(checkScale(context));
  const DataType named = TRY(typeAttribute(context.node(), "output_dtype", DataType::Undefined));
  const DataType type = named == DataType::Undefined ? context.input(1).dtype : named;
  if (type != DataType::Undefined && !kWideFloatTypes.contains(type))
    return attributeProblem("output_dtype", fmt::format("dequantising to {} is not defined", name(type)),
                            "Set it to the number of a float type of 16 bits or more.");
  return one(type, context.input(0).shape);
}

/// Returns the type in which x / y_scale is computed: the attribute `precision`, or else the type of the scale.
Result<DataType> divisionType(const KernelContext& context) {
  const DataType type = TRY(typeAttribute(context.node(), "precision", context.input(1).type()));
  return isNarrow(type) || type == DataType::F64 ? type : DataType::F32;
}

/// Calculates y = saturate(round(x / scale) + zero point). It does not round if y is a float.
Result<Tensors> quantize(const KernelContext& context) {
  const Tensor& x = context.input(0);
  const ScaleGrid grid = TRY(ScaleGrid::of(context.node(), x.dims(), context.input(1).dims()));
  const DataType to = context.outputType(0), division = TRY(divisionType(context));
  const Tensor scale = context.input(1).converted(division);
  const auto limits = limitsOf(to);
  const bool saturates = context.node().intAttribute("saturate", 1) != 0;
  const bool inFloat32 = division != DataType::F64;
  const auto rounded = [&](double value) {
    return inFloat32 ? static_cast<double>(roundedTo(division, static_cast<float>(value))) : value;
  };
  Tensor wide = TRY(allocate(DataType::F64, x.dims()));
  const auto values = wide.mutableData<double>();
  std::int64_t i = 0;
  forEachIndex(x.dims(), [&](const Dims& index) {
    const std::int64_t cell = grid.at(index);
    double value = rounded(rounded(x.asDouble(i)) / scale.asDouble(cell));
    if (isInteger(to)) value = std::nearbyint(value);
    if (context.hasInput(2)) value += context.input(2).asDouble(cell);
    if (isInteger(to)) value = limits.clamped(value);
    values[static_cast<std::size_t>(i++)] = value;
    return true;
  });
  if (isInteger(to) || isPacked(to) || saturates) return Tensors{wide.converted(to)};
  Tensor result = TRY(allocateOutput(context));
  for (std::size_t k = 0; k < values.size(); ++k)
    result.mutableData<std::uint8_t>()[k] = toSmallFloatBits(to, static_cast<float>(values[k]), false);
  return Tensors{std::move(result)};
}

/// Calculates y = (x - zero point) * scale.
Result<Tensors> dequantize(const KernelContext& context) {
  const Tensor &x = context.input(0), &scale = context.input(1);
  const ScaleGrid grid = TRY(ScaleGrid::of(context.node(), x.dims(), scale.dims()));
  Tensor wide = TRY(allocate(DataType::F32, x.dims()));
  std::int64_t i = 0;
  forEachIndex(x.dims(), [&](const Dims& index) {
    const std::int64_t cell = grid.at(index);
    const double zero = context.hasInput(2) ? context.input(2).asDouble(cell) : 0;
    wide.mutableData<float>()[static_cast<std::size_t>(i)] =
        static_cast<float>(x.asDouble(i) - zero) * static_cast<float>(scale.asDouble(cell));
    ++i;
    return true;
  });
  return Tensors{wide.converted(context.outputType(0))};
}

Result<Types> inferDynamicQuantize(const InferContext& context) {
  const Shape scalar = Shape::of(Dims{});
  return Types{{DataType::U8, context.input(0).shape}, {DataType::F32, scalar}, {DataType::U8, scalar}};
}

Result<Tensors> dynamicQuantize(const KernelContext& context) {
  const auto x = context.input(0).data<float>();
  const DynamicScale by = dynamicScaleOf(x);
  Tensor y = TRY(allocateOutput(context));
  const auto to = y.mutableData<std::uint8_t>();
  for (std::size_t i = 0; i < x.size(); ++i) to[i] = by.code(x[i]);
  const auto zeroPoint = static_cast<std::uint8_t>(by.zero);
  return Tensors{std::move(y), Tensor::scalar(by.scale),
                 Tensor::copyOf<std::uint8_t>(DataType::U8, {}, std::span(&zeroPoint, 1))};
}

}  // namespace

void registerQuantization(OpRegistry& registry) {
  const TypeSet wide = kFloatTypes | TypeSet{DataType::I32};
  const TypeSet scale = wide | TypeSet{DataType::F8E8M0};
  const TypeSet dequantized = kQuantized | TypeSet{DataType::I32};
  registry.add({.op = "DequantizeLinear",
                .kind = OpKind::Quantization,
                .minInputs = 2,
                .maxInputs = 3,
                .infer = inferDequantize,
                .kernel = dequantize,
                .signature = {"QSQ", {{'Q', dequantized}, {'S', kFloatTypes | TypeSet{DataType::F8E8M0}}}}});
  registry.add({.op = "DynamicQuantizeLinear",
                .kind = OpKind::Quantization,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferDynamicQuantize,
                .kernel = dynamicQuantize,
                .maxOutputs = 3,
                .signature = {"T", {{'T', TypeSet{DataType::F32}}}}});
  registry.add({.op = "QuantizeLinear",
                .kind = OpKind::Quantization,
                .minInputs = 2,
                .maxInputs = 3,
                .infer = inferQuantize,
                .kernel = quantize,
                .signature = {"XSQ", {{'X', wide}, {'S', scale}, {'Q', kQuantized}}}});
}

}  // namespace fusescope::ops
