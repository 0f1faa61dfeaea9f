// Products and convolutions of quantised operands: zero points are subtracted, sums are exact, and scales are applied
// at the end.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/run_node.h"
#include "ops/support/filter_flops.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/matmul_support.h"
#include "ops/support/quantized_range.h"
#include "ops/support/strided.h"

namespace fusescope::ops {
namespace {

constexpr TypeSet kBytes{DataType::I8, DataType::U8};
constexpr TypeSet kByteCodes = kBytes | kFnuzTypes | TypeSet{DataType::F8E4M3, DataType::F8E5M2};

/// Returns the scale or zero point at `input` as one value for each element of `dims`: it is a single number, a vector
/// along `axis`, or a tensor whose extents of 1 are broadcast.
Result<std::vector<double>> spread(const KernelContext& context, std::size_t input, const Dims& dims,
                                   std::size_t axis) {
  const Tensor& parameter = context.input(input);
  const auto count = static_cast<std::size_t>(elementCount(dims).value());
  if (parameter.count() == 1) return std::vector<double>(count, parameter.asDouble(0));
  Dims aligned(dims.size(), 1);
  if (parameter.dims().size() == 1 && axis < dims.size())
    aligned[axis] = parameter.dims()[0];
  else if (parameter.dims().size() <= dims.size())
    std::ranges::copy_backward(parameter.dims(), aligned.end());
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (elementCount(aligned) != parameter.count() || (aligned[i] != 1 && aligned[i] != dims[i]))
      return problem(fmt::format("the scale or zero point at input {} has extents {}, which do not fit {}", input,
                                 toText(parameter.dims()), toText(dims)));
  std::vector<double> values;
  values.reserve(count);
  const Dims strides = broadcastStrides(aligned, dims);
  forEachIndex(dims, [&](const Dims& index) {
    values.push_back(parameter.asDouble(offsetOf(index, strides)));
    return true;
  });
  return values;
}

/// Returns operand `input` minus its zero point, as numbers that represent it exactly.
Result<Tensor> withoutZeroPoint(const KernelContext& context, std::size_t input, std::size_t zeroInput,
                                std::size_t axis) {
  const Tensor& codes = context.input(input);
  Tensor wide = TRY(allocate(DataType::F64, codes.dims()));
  const auto to = wide.mutableData<double>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = codes.asDouble(static_cast<std::int64_t>(i));
  if (!context.hasInput(zeroInput)) return wide;
  const std::vector<double> zeros = TRY(spread(context, zeroInput, codes.dims(), axis));
  for (std::size_t i = 0; i < to.size(); ++i) to[i] -= zeros[i];
  return wide;
}

std::size_t rowAxis(const Dims& dims) {
  return dims.size() < 2 ? dims.size() : dims.size() - 2;  // a vector has no rows
}
std::size_t columnAxis(const Dims& dims) {
  return dims.size() < 2 ? dims.size() : dims.size() - 1;
}

/// Runs a node of operator `op` with the attributes of `like` on wide operands.
Result<Tensor> runWide(const std::string& op, const Node& like, std::span<const Tensor* const> inputs) {
  Node node{.op = op, .name = like.name, .attributes = like.attributes};
  for (std::size_t i = 0; i < inputs.size(); ++i) node.inputs.emplace_back(i);
  node.outputs = {ValueId(inputs.size())};
  return std::move(TRY(runNode(node, inputs)).front());
}

/// Converts sums to 32 bits. They overflow as ONNX allows: the higher bits are dropped.
Tensor toInt32(const Tensor& sums) {
  return sums.converted(DataType::I64).converted(DataType::I32);
}

/// Returns saturate(round(value) + zero) for integers and saturate(value + zero) for floats.
double requantised(double value, double zero, DataType to) {
  return isInteger(to) ? limitsOf(to).clamped(std::nearbyint(value) + zero) : value + zero;
}

// --- matrices

Result<Types> inferMatMulInteger(const InferContext& context) {
  return one(DataType::I32, TRY(matmulShape(context, context.input(0).shape, context.input(1).shape)));
}

Result<Tensors> matMulInteger(const KernelContext& context) {
  const Tensor a = TRY(withoutZeroPoint(context, 0, 2, rowAxis(context.input(0).dims())));
  const Tensor b = TRY(withoutZeroPoint(context, 1, 3, columnAxis(context.input(1).dims())));
  const Tensor* const operands[] = {&a, &b};
  return Tensors{toInt32(TRY(runWide("MatMul", {.name = context.node().name}, operands)))};
}

Result<Types> inferQLinearMatMul(const InferContext& context) {
  return one(context.input(7).dtype, TRY(matmulShape(context, context.input(0).shape, context.input(3).shape)));
}

/// Rows of a are rows of y, and columns of b are columns of y.
Result<Tensors> qLinearMatMul(const KernelContext& context) {
  const Tensor a = TRY(withoutZeroPoint(context, 0, 2, rowAxis(context.input(0).dims())));
  const Tensor b = TRY(withoutZeroPoint(context, 3, 5, columnAxis(context.input(3).dims())));
  const Tensor* const operands[] = {&a, &b};
  Tensor y = TRY(runWide("MatMul", {.name = context.node().name}, operands));
  const Dims& dims = y.dims();
  const auto scaleA = TRY(spread(context, 1, dims, rowAxis(dims)));
  const auto scaleB = TRY(spread(context, 4, dims, columnAxis(dims)));
  const auto scaleY = TRY(spread(context, 6, dims, rowAxis(dims)));
  const auto zeroY = TRY(spread(context, 7, dims, rowAxis(dims)));
  const auto to = y.mutableData<double>();
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = requantised(to[i] * (scaleA[i] * scaleB[i] / scaleY[i]), zeroY[i], context.outputType(0));
  return Tensors{y.converted(context.outputType(0))};
}

// --- convolutions

/// Runs Conv's shape function on the given data, weight and bias.
Result<Shape> convShape(const InferContext& context, std::size_t weight, std::size_t bias) {
  Node node{.op = "Conv", .name = context.node().name, .attributes = context.node().attributes};
  const TensorType x{DataType::F64, context.input(0).shape}, w{DataType::F64, context.input(weight).shape};
  std::vector<const TensorType*> types{&x, &w};
  TensorType b;
  if (context.hasInput(bias)) {
    b = {DataType::F64, context.input(bias).shape};
    types.push_back(&b);
  }
  const std::vector<const Tensor*> constants(types.size(), nullptr);
  for (std::size_t i = 0; i < types.size(); ++i) node.inputs.emplace_back(i);
  node.outputs = {ValueId(types.size())};
  return std::move(TRY(inferNode(node, types, constants)).front().shape);
}

Result<Types> inferConvInteger(const InferContext& context) {
  return one(DataType::I32, TRY(convShape(context, 1, SIZE_MAX)));
}

Result<Tensors> convInteger(const KernelContext& context) {
  const Tensor x = TRY(withoutZeroPoint(context, 0, 2, 1)), w = TRY(withoutZeroPoint(context, 1, 3, 0));
  const Tensor* const operands[] = {&x, &w};
  return Tensors{toInt32(TRY(runWide("Conv", context.node(), operands)))};
}

Result<Types> inferQLinearConv(const InferContext& context) {
  return one(context.input(7).dtype, TRY(convShape(context, 3, 8)));
}

/// The scale of the bias is x_scale * w_scale, so that it is added before the scales are applied.
Result<Tensors> qLinearConv(const KernelContext& context) {
  const Tensor x = TRY(withoutZeroPoint(context, 0, 2, 1)), w = TRY(withoutZeroPoint(context, 3, 5, 0));
  const Tensor bias = context.hasInput(8) ? context.input(8).converted(DataType::F64) : Tensor();
  std::vector<const Tensor*> operands{&x, &w};
  if (context.hasInput(8)) operands.push_back(&bias);
  Tensor y = TRY(runWide("Conv", context.node(), operands));
  if (context.input(1).count() != 1 || context.input(6).count() != 1 || context.input(7).count() != 1)
    return problem("the scales of x and y and the zero point of y must be single numbers");
  const auto scaleW = TRY(spread(context, 4, y.dims(), 1));
  const double ratio = context.input(1).asDouble(0) / context.input(6).asDouble(0);
  const auto to = y.mutableData<double>();
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = requantised(to[i] * (ratio * scaleW[i]), context.input(7).asDouble(0), context.outputType(0));
  return Tensors{y.converted(context.outputType(0))};
}

OpSchema product(std::string op, OpKind kind, int minInputs, int maxInputs, InferFunction infer, KernelFunction kernel,
                 FlopsFunction flops, OpSignature signature) {
  return {.op = std::move(op),
          .kind = kind,
          .minInputs = minInputs,
          .maxInputs = maxInputs,
          .infer = std::move(infer),
          .kernel = std::move(kernel),
          .flops = std::move(flops),
          .signature = std::move(signature)};
}

}  // namespace

void registerQuantizedProducts(OpRegistry& registry) {
  const OpSignature integers{"ABAB", {{'A', kBytes}, {'B', kBytes}}};
  const TypeSet scales{DataType::F32, DataType::F16, DataType::BF16};
  registry.add(
      product("ConvInteger", OpKind::Convolution, 2, 4, inferConvInteger, convInteger, flopsOfFilters(1), integers));
  registry.add(
      product("MatMulInteger", OpKind::MatMul, 2, 4, inferMatMulInteger, matMulInteger, matmulFlops, integers));
  registry.add(product(
      "QLinearConv", OpKind::Convolution, 8, 9, inferQLinearConv, qLinearConv, flopsOfFilters(3),
      {"ASABSBSYI",
       {{'A', kBytes}, {'B', kBytes}, {'S', TypeSet{DataType::F32}}, {'Y', kBytes}, {'I', TypeSet{DataType::I32}}}}));
  registry.add(product("QLinearMatMul", OpKind::MatMul, 8, 8, inferQLinearMatMul, qLinearMatMul, matmulFlops,
                       {"ASABSBSY", {{'A', kByteCodes}, {'B', kByteCodes}, {'S', scales}, {'Y', kByteCodes}}}));
}

}  // namespace fusescope::ops
