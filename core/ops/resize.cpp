// Resampling along axes. Each axis is resampled separately: each output element is a weighted sum of a few neighbours.
#include <fmt/format.h>

#include <cmath>

#include "ops/families.h"
#include "ops/support/extent_arithmetic.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/mapped_axes.h"
#include "ops/support/resampling.h"

namespace fusescope::ops {
namespace {

const Tensor* orNull(const KernelContext& context, std::size_t i) {
  return context.hasInput(i) ? &context.input(i) : nullptr;
}

/// Returns an open extent times a scale, rounded down. It is an expression if the scale is a fraction with few binary
/// digits.
Dim timesScale(const Dim& dim, double scale) {
  constexpr std::int64_t kMostDenominator = 1024, kMostScale = 65536;
  if (!(scale > 0 && scale < static_cast<double>(kMostScale))) return Dim();
  for (std::int64_t denominator = 1; denominator <= kMostDenominator; denominator *= 2) {
    const double numerator = scale * static_cast<double>(denominator);
    if (numerator == std::floor(numerator))
      return dividedExtent(scaledExtent(dim, static_cast<std::int64_t>(numerator)), 0, denominator);
  }
  return Dim();
}

Result<Types> inferResize(const InferContext& context) {
  const Node& node = context.node();
  TRY(checkResizeAttributes(node));
  const TensorType& x = context.input(0);
  if (!x.shape.ranked) return one(x.dtype, Shape::unknown());
  const bool upsample = node.op == "Upsample";
  const ResizeRequest request = TRY(readResizeRequest(node, x.shape.rank(), context.constant(upsample ? 1 : 2),
                                                      upsample ? nullptr : context.constant(3)));
  Shape result = x.shape;
  for (const std::size_t axis : request.axes) result.dims[axis] = Dim();
  if (!request.scales && !request.sizes) return one(x.dtype, std::move(result));
  if (const auto dims = x.shape.fixed()) {
    return one(x.dtype, Shape::of(TRY(resizedDims(node, *dims, request))));
  }
  const bool stretch = node.textAttribute("keep_aspect_ratio_policy", "stretch") == "stretch";
  for (std::size_t i = 0; i < request.axes.size(); ++i) {
    const Dim& in = x.shape.dims[request.axes[i]];
    Dim& out = result.dims[request.axes[i]];
    if (request.sizes && stretch)
      out = Dim((*request.sizes)[i]);
    else if (request.scales && (*request.scales)[i] == 1)
      out = in;
    else if (request.scales && in.known())
      out = Dim(static_cast<std::int64_t>(std::floor((*request.scales)[i] * static_cast<double>(in.size))));
    else if (request.scales)
      out = timesScale(in, (*request.scales)[i]);
  }
  return one(x.dtype, std::move(result));
}

/// Returns `values` (extents `dims`) resampled along one axis.
std::vector<double> resampled(const std::vector<double>& values, Dims& dims, std::size_t axis,
                              const std::vector<Taps>& taps) {
  const AxisSplit split = splitAt(dims, axis);
  const auto out = static_cast<std::int64_t>(taps.size());
  std::vector<double> result(static_cast<std::size_t>(split.outer * out * split.inner), 0.0);
  for (std::int64_t o = 0; o < split.outer; ++o)
    for (std::int64_t k = 0; k < out; ++k)
      for (const auto& [place, weight] : taps[static_cast<std::size_t>(k)]) {
        const double* from = values.data() + (o * split.extent + place) * split.inner;
        double* to = result.data() + (o * out + k) * split.inner;
        for (std::int64_t i = 0; i < split.inner; ++i) to[i] += weight * from[i];
      }
  dims[axis] = out;
  return result;
}

/// Sets output elements that are outside the input along an axis to the extrapolation value.
void extrapolate(std::vector<double>& values, const Dims& dims, std::size_t axis, const std::vector<Taps>& taps,
                 double value) {
  const AxisSplit split = splitAt(dims, axis);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(values.size()); ++i)
    if (taps[static_cast<std::size_t>(i / split.inner % split.extent)].empty())
      values[static_cast<std::size_t>(i)] = value;
}

/// The nearest elements are only moved, so that every type is supported.
Result<Tensors> movedNearest(const Tensor& x, const std::vector<AxisResampling>& axes, const Tensor& fill) {
  Dims dims = x.dims();
  std::vector<Dims> maps(dims.size());
  for (const AxisResampling& axis : axes) {
    dims[axis.axis] = static_cast<std::int64_t>(axis.taps.size());
    for (const Taps& place : axis.taps) maps[axis.axis].push_back(place.empty() ? -1 : place.front().first);
  }
  for (std::size_t i = 0; i < dims.size(); ++i)
    for (std::int64_t at = std::ssize(maps[i]); at < dims[i]; ++at) maps[i].push_back(at);
  return gatherMapped(x, dims, maps, fill.type() == x.type() ? &fill : nullptr);
}

Result<Tensors> resize(const KernelContext& context) {
  const Node& node = context.node();
  const Tensor& x = context.input(0);
  const bool upsample = node.op == "Upsample";
  const ResizeRequest request = TRY(readResizeRequest(node, x.dims().size(), orNull(context, upsample ? 1 : 2),
                                                      upsample ? nullptr : orNull(context, 3)));
  const auto axes = TRY(axisResamplings(node, x.dims(), request, upsample ? nullptr : orNull(context, 1)));
  const float outside = node.floatAttribute("extrapolation_value", 0.0F);
  const bool numeric = (kNumberTypes | kBoolType).contains(x.type());
  const std::string mode = node.textAttribute("mode", "nearest");
  if (mode == "nearest") return movedNearest(x, axes, numeric ? Tensor::scalar(outside).converted(x.type()) : Tensor());
  if (!numeric)
    return attributeProblem(
        "mode", fmt::format("elements of type {} cannot be interpolated; only 'nearest' accepts them", name(x.type())));
  Dims dims = x.dims();
  std::vector<double> values;
  for (std::int64_t i = 0; i < x.count(); ++i) values.push_back(x.asDouble(i));
  for (const AxisResampling& axis : axes)
    if (!axis.copies) values = resampled(values, dims, axis.axis, axis.taps);
  for (const AxisResampling& axis : axes) extrapolate(values, dims, axis.axis, axis.taps, static_cast<double>(outside));
  return Tensors{Tensor::copyOf<double>(DataType::F64, dims, values).converted(x.type())};
}

}  // namespace

void registerResize(OpRegistry& registry) {
  const TypeSet types = kNumberTypes | kBoolType | TypeSet{DataType::String, DataType::C64, DataType::C128};
  registry.add({.op = "Resize",
                .kind = OpKind::Other,
                .minInputs = 1,
                .maxInputs = 4,
                .infer = inferResize,
                .kernel = resize,
                .signature = {"TRSI", {{'T', types}, {'R', kFloatTypes}, {'S', kFloatTypes}, {'I', kInt64Type}}}});
  registry.add({.op = "Upsample",
                .kind = OpKind::Other,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferResize,
                .kernel = resize,
                .signature = {"TS", {{'T', types}, {'S', kFloatTypes}}}});
}

}  // namespace fusescope::ops
