// Between floats and integers with a scale and a zero point, and products of quantised operands.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/matmul_support.h"
#include "ops/support/strided.h"

namespace fusescope::ops {
namespace {

constexpr TypeSet kBytes{DataType::I8, DataType::U8};
constexpr TypeSet kQuantized =
    kBytes | kNibbleTypes | TypeSet{DataType::I16, DataType::U16, DataType::I32, DataType::F8E4M3, DataType::F8E5M2};

/// Which scale each element of a tensor uses: one for all, one per index of an axis, or one per block along an axis.
struct ScaleGrid {
  Dims strides;  ///< of the scale tensor, as seen from the data's axes
  Dims blocks;   ///< data indices per scale index along each axis

  static Result<ScaleGrid> of(const Node& node, const Dims& data, const Dims& scale) {
    ScaleGrid grid{Dims(data.size(), 0), Dims(data.size(), 1)};
    if (elementCount(scale) == 1 && scale.size() <= 1 && node.intAttribute("block_size", 0) == 0) return grid;
    const std::size_t axis = TRY(normalizedAxis(node.intAttribute("axis", 1), data.size()));
    if (scale.size() == 1) {
      if (scale[0] != data[axis])
        return problem(fmt::format("there are {} scales for an axis of extent {}", scale[0], data[axis]));
      grid.strides[axis] = 1;
      return grid;
    }
    const std::int64_t block = node.intAttribute("block_size", 0);
    if (scale.size() != data.size() || block < 1 || scale[axis] != (data[axis] + block - 1) / block)
      return problem(fmt::format("scales of extents {} do not fit data of {} in blocks of {}", toText(scale),
                                 toText(data), block));
    grid.strides = denseStrides(scale);
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (i != axis && scale[i] != data[i])
        return problem(fmt::format("scales of extents {} do not fit data of {}", toText(scale), toText(data)));
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
  const DataType named = TRY(typeAttribute(context.node(), "output_dtype", DataType::Undefined));
  DataType type = context.hasInput(2) ? context.input(2).dtype : named == DataType::Undefined ? DataType::U8 : named;
  if (type != DataType::Undefined && !kQuantized.contains(type))
    return attributeProblem("output_dtype", fmt::format("quantising to {} is not supported", name(type)));
  return one(type, context.input(0).shape);
}

Result<Types> inferDequantize(const InferContext& context) {
  TRY(checkScale(context));
  const DataType named = TRY(typeAttribute(context.node(), "output_dtype", DataType::Undefined));
  return one(named == DataType::Undefined ? context.input(1).dtype : named, context.input(0).shape);
}

/// The least and the largest number of an integer type.
std::pair<double, double> limitsOf(DataType type) {
  switch (type) {
    case DataType::I4:
      return {-8, 7};
    case DataType::U4:
      return {0, 15};
    case DataType::I8:
      return {-128, 127};
    case DataType::U8:
      return {0, 255};
    case DataType::I16:
      return {-32768, 32767};
    case DataType::U16:
      return {0, 65535};
    case DataType::U32:
      return {0, 4294967295.0};
    default:
      return {-2147483648.0, 2147483647.0};
  }
}

Result<Tensors> quantize(const KernelContext& context) {
  const Tensor &x = context.input(0), &scale = context.input(1);
  const ScaleGrid grid = TRY(ScaleGrid::of(context.node(), x.dims(), scale.dims()));
  const DataType to = context.outputType(0);
  const auto [least, most] = limitsOf(to);
  Tensor wide = TRY(allocate(DataType::F64, x.dims()));
  std::int64_t i = 0;
  forEachIndex(x.dims(), [&](const Dims& index) {
    const std::int64_t cell = grid.at(index);
    double value = static_cast<double>(static_cast<float>(x.asDouble(i)) / static_cast<float>(scale.asDouble(cell)));
    if (isInteger(to)) {
      value = std::nearbyint(value) + (context.hasInput(2) ? context.input(2).asDouble(cell) : 0);
      value = value < least || value != value ? least : std::min(value, most);
    }
    wide.mutableData<double>()[static_cast<std::size_t>(i++)] = value;
    return true;
  });
  return Tensors{wide.converted(to)};
}

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
  float least = 0, most = 0;  // the range always holds 0
  for (const float value : x) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  const float scale = most == least ? 1.0F : (most - least) / 255.0F;
  const float zero = std::nearbyint(std::clamp(0.0F - least / scale, 0.0F, 255.0F));
  Tensor y = TRY(allocateOutput(context));
  const auto to = y.mutableData<std::uint8_t>();
  for (std::size_t i = 0; i < x.size(); ++i)
    to[i] = static_cast<std::uint8_t>(std::clamp(std::nearbyint(x[i] / scale) + zero, 0.0F, 255.0F));
  const auto zeroPoint = static_cast<std::uint8_t>(zero);
  return Tensors{std::move(y), Tensor::scalar(scale),
                 Tensor::copyOf<std::uint8_t>(DataType::U8, {}, std::span(&zeroPoint, 1))};
}

// --- products
// ---------------------------------------------------------------------------------------------------------

/// A zero point of a matrix product: one number, or one per row of the left or per column of the right operand.
Result<std::int64_t> zeroPointAt(const KernelContext& context, std::size_t input, std::int64_t index,
                                 std::int64_t extent) {
  if (!context.hasInput(input)) return std::int64_t{0};
  const Tensor& zero = context.input(input);
  if (zero.count() == 1) return zero.asInt64(0);
  if (zero.count() != extent)
    return problem(fmt::format("input {} has {} zero points, expected 1 or {}", input, zero.count(), extent));
  return zero.asInt64(index);
}

/// The product in 32-bit integers of operands less their zero points, by `add(c offset, row, column, sum)`.
template <class Add>
Status multiplyIntegers(const KernelContext& context, std::size_t a, std::size_t zeroA, std::size_t b,
                        std::size_t zeroB, Add add) {
  const MatMulExtents e = matmulExtents(context.input(a).dims(), context.input(b).dims());
  std::vector<std::int64_t> rows, columns;
  for (std::int64_t i = 0; i < e.m; ++i) rows.push_back(TRY(zeroPointAt(context, zeroA, i, e.m)));
  for (std::int64_t j = 0; j < e.n; ++j) columns.push_back(TRY(zeroPointAt(context, zeroB, j, e.n)));
  std::int64_t to = 0;
  forEachIndex(e.batch, [&](const Dims& index) {
    const std::int64_t left = offsetOf(index, e.stridesA) * e.m * e.k, right = offsetOf(index, e.stridesB) * e.k * e.n;
    for (std::int64_t i = 0; i < e.m; ++i)
      for (std::int64_t j = 0; j < e.n; ++j) {
        std::int64_t sum = 0;
        for (std::int64_t p = 0; p < e.k; ++p)
          sum += (context.input(a).asInt64(left + i * e.k + p) - rows[static_cast<std::size_t>(i)]) *
                 (context.input(b).asInt64(right + p * e.n + j) - columns[static_cast<std::size_t>(j)]);
        add(to++, j, sum);
      }
    return true;
  });
  return Done{};
}

Result<Types> inferMatMulInteger(const InferContext& context) {
  return one(DataType::I32, TRY(matmulShape(context.input(0).shape, context.input(1).shape)));
}

Result<Tensors> matMulInteger(const KernelContext& context) {
  Tensor result = TRY(allocateOutput(context));
  const auto to = result.mutableData<std::int32_t>();
  TRY(multiplyIntegers(context, 0, 2, 1, 3, [&](std::int64_t at, std::int64_t, std::int64_t sum) {
    to[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(sum);
  }));
  return Tensors{std::move(result)};
}

Result<Types> inferQLinearMatMul(const InferContext& context) {
  return one(context.input(7).dtype, TRY(matmulShape(context.input(0).shape, context.input(3).shape)));
}

Result<Tensors> qLinearMatMul(const KernelContext& context) {
  const Tensor &scaleA = context.input(1), &scaleB = context.input(4), &scaleY = context.input(6);
  if (scaleA.count() != 1 || scaleY.count() != 1) return problem("the scales of a and y must be single numbers");
  const std::int64_t columns = context.outputDims(0).empty() ? 1 : context.outputDims(0).back();
  if (scaleB.count() != 1 && scaleB.count() != columns)
    return problem("the scale of b must be one number or one per column");
  Tensor wide = TRY(allocate(DataType::F64, context.outputDims(0)));
  const auto [least, most] = limitsOf(context.outputType(0));
  const double zero = context.input(7).asDouble(0);
  TRY(multiplyIntegers(context, 0, 2, 3, 5, [&](std::int64_t at, std::int64_t column, std::int64_t sum) {
    const double scale = scaleA.asDouble(0) * scaleB.asDouble(scaleB.count() == 1 ? 0 : column) / scaleY.asDouble(0);
    wide.mutableData<double>()[static_cast<std::size_t>(at)] =
        std::clamp(std::nearbyint(static_cast<double>(sum) * scale) + zero, least, most);
  }));
  return Tensors{wide.converted(context.outputType(0))};
}

}  // namespace

void registerQuantization(OpRegistry& registry) {
  const TypeSet wide = kFloatTypes | TypeSet{DataType::I32};
  registry.add({.op = "DequantizeLinear",
                .kind = OpKind::Quantization,
                .minInputs = 2,
                .maxInputs = 3,
                .infer = inferDequantize,
                .kernel = dequantize,
                .signature = {"QSQ", {{'Q', kQuantized}, {'S', kFloatTypes}}}});
  registry.add({.op = "DynamicQuantizeLinear",
                .kind = OpKind::Quantization,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferDynamicQuantize,
                .kernel = dynamicQuantize,
                .maxOutputs = 3,
                .signature = {"T", {{'T', TypeSet{DataType::F32}}}}});
  registry.add({.op = "MatMulInteger",
                .kind = OpKind::MatMul,
                .minInputs = 2,
                .maxInputs = 4,
                .infer = inferMatMulInteger,
                .kernel = matMulInteger,
                .flops = matmulFlops,
                .signature = {"ABAB", {{'A', kBytes}, {'B', kBytes}}}});
  registry.add({.op = "QLinearMatMul",
                .kind = OpKind::MatMul,
                .minInputs = 8,
                .maxInputs = 8,
                .infer = inferQLinearMatMul,
                .kernel = qLinearMatMul,
                .flops = matmulFlops,
                .signature = {"ASABSBSY", {{'A', kBytes}, {'B', kBytes}, {'S', kFloatTypes}, {'Y', kBytes}}}});
  registry.add({.op = "QuantizeLinear",
                .kind = OpKind::Quantization,
                .minInputs = 2,
                .maxInputs = 3,
                .infer = inferQuantize,
                .kernel = quantize,
                .signature = {"XSQ", {{'X', wide}, {'S', wide}, {'Q', kQuantized}}}});
}

}  // namespace fusescope::ops
