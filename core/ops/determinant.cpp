// Det: the determinant of each square matrix of a batch.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/work.h"

namespace fusescope::ops {
namespace {

Result<Types> inferDet(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 2));
  TensorType type = context.input(0);
  if (!type.shape.ranked) return Types{type};
  TRY(unified(context, type.shape.dims.end()[-1], type.shape.dims.end()[-2], "the extents of a square matrix"));
  type.shape.dims.resize(type.shape.rank() - 2);
  return Types{type};
}

/// Gaussian elimination with the largest pivot of each column. `matrix` is [size, size] and is overwritten.
double determinant(std::vector<double>& matrix, std::size_t size) {
  double product = 1;
  for (std::size_t column = 0; column < size; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < size; ++row)
      if (std::fabs(matrix[row * size + column]) > std::fabs(matrix[pivot * size + column])) pivot = row;
    const double value = matrix[pivot * size + column];
    if (value == 0) return 0;
    if (pivot != column) {
      product = -product;
      for (std::size_t k = 0; k < size; ++k) std::swap(matrix[pivot * size + k], matrix[column * size + k]);
    }
    product *= value;
    for (std::size_t row = column + 1; row < size; ++row) {
      const double factor = matrix[row * size + column] / value;
      for (std::size_t k = column; k < size; ++k) matrix[row * size + k] -= factor * matrix[column * size + k];
    }
  }
  return product;
}

Result<Tensors> det(const KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor wide = TRY(allocate(DataType::F64, context.outputDims(0)));
  const auto size = static_cast<std::size_t>(x.dims().back());
  std::vector<double> matrix(size * size);
  std::int64_t from = 0;
  for (double& result : wide.mutableData<double>()) {
    for (double& element : matrix) element = x.asDouble(from++);
    result = determinant(matrix, size);
  }
  return Tensors{wide.converted(context.outputType(0))};
}

std::int64_t detFlops(const Node&, std::span<const Dims> inputs, std::span<const Dims>) {
  if (inputs.empty() || inputs[0].empty()) return 0;
  const std::int64_t work = workOf({workOf(inputs[0]), inputs[0].back(), 2});
  return work == kBeyondCounting ? work : work / 3;
}

}  // namespace

void registerDeterminant(OpRegistry& registry) {
  registry.add({.op = "Det",
                .kind = OpKind::Other,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferDet,
                .kernel = det,
                .flops = detFlops,
                .signature = {"T", {{'T', kWideFloatTypes}}}});
}

}  // namespace fusescope::ops
