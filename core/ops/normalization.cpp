// Normalisations over trailing axes, channels or groups.
#include <fmt/format.h>

#include <cmath>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/strided.h"
#include "ops/support/work.h"

namespace fusescope::ops {
namespace {

/// Mean and variance of `count` adjacent elements; the sums are in double.
struct Moments {
  double mean = 0, variance = 0;
};
template <class T>
Moments momentsOf(const T* from, std::int64_t count) {
  Moments moments;
  for (std::int64_t i = 0; i < count; ++i) moments.mean += static_cast<double>(from[i]);
  moments.mean /= static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const double distance = static_cast<double>(from[i]) - moments.mean;
    moments.variance += distance * distance;
  }
  moments.variance /= static_cast<double>(count);
  return moments;
}

Status checkPerChannel(const InferContext& context, std::size_t first, const Dim& channels) {
  for (std::size_t i = first; i < context.inputCount(); ++i) {
    if (!context.hasInput(i)) continue;
    TRY(requireRank(context, i, 1));
    const Shape& shape = context.input(i).shape;
    if (shape.ranked)
      TRY(unified(context, shape.dims[0], channels,
                  fmt::format("the extent of input {} and the number of channels", i)));
  }
  return Done{};
}

// --- over the last axes

Result<Types> inferLayerNorm(const InferContext& context) {
  const TensorType& x = context.input(0);
  const DataType stash = TRY(typeAttribute(context.node(), "stash_type", DataType::F32));
  TensorType statistics{stash, x.shape};
  if (x.shape.ranked) {
    const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", -1), x.shape.rank()));
    for (std::size_t i = axis; i < x.shape.rank(); ++i) statistics.shape.dims[i] = Dim(1);
    for (std::size_t i = 1; i < context.inputCount(); ++i) {
      if (!context.hasInput(i)) continue;
      const Shape with = TRY(broadcast(x.shape, context.input(i).shape));
      if (with.ranked && (with.rank() != x.shape.rank() || (x.shape.fixed() && with != x.shape)))
        return problem(fmt::format("input {} {} cannot be broadcast to {}", i, context.input(i).text(), x.text()));
    }
  }
  return Types{x, statistics, statistics};
}

/// y = (x - mean) / sqrt(variance + epsilon) over the axes from `axis`; scale and bias broadcast to x's extents.
template <class T>
void scaleAndShift(const KernelContext& context, Tensor& result, std::size_t scale, std::size_t bias) {
  const Dims& dims = result.dims();
  T* y = result.mutableData<T>().data();
  const auto apply = [&](std::size_t input, auto f) {
    if (!context.hasInput(input)) return;
    const T* from = context.input(input).data<T>().data();
    forEachRun<2>(dims, {denseStrides(dims), broadcastStrides(context.input(input).dims(), dims)},
                  [&](const auto& at, const auto& step, std::int64_t count) {
                    for (std::int64_t k = 0; k < count; ++k) f(y[at[0] + k], from[at[1] + k * step[1]]);
                  });
  };
  apply(scale, [](T& element, T by) { element *= by; });
  apply(bias, [](T& element, T by) { element += by; });
}

template <class T>
Result<Tensors> layerNormAs(const KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", -1), x.dims().size()));
  const double epsilon = static_cast<double>(context.node().floatAttribute("epsilon", 1e-5F));
  const std::int64_t inner =
      elementCount(Dims(x.dims().begin() + static_cast<std::ptrdiff_t>(axis), x.dims().end())).value();
  const std::int64_t outer = inner == 0 ? 0 : x.count() / inner;
  std::vector<double> means, inverses;
  for (std::int64_t o = 0; o < outer; ++o) {
    const T* from = x.data<T>().data() + o * inner;
    T* to = result.mutableData<T>().data() + o * inner;
    const Moments moments = momentsOf(from, inner);
    const double inverse = 1.0 / std::sqrt(moments.variance + epsilon);
    for (std::int64_t i = 0; i < inner; ++i)
      to[i] = static_cast<T>((static_cast<double>(from[i]) - moments.mean) * inverse);
    means.push_back(moments.mean);
    inverses.push_back(inverse);
  }
  scaleAndShift<T>(context, result, 1, 2);
  Tensors results{std::move(result)};
  for (std::size_t i = 1; i < context.outputCount(); ++i) {
    const auto& values = i == 1 ? means : inverses;
    if (static_cast<std::int64_t>(values.size()) == elementCount(context.outputDims(i)))
      results.push_back(
          Tensor::copyOf<double>(DataType::F64, context.outputDims(i), values).converted(context.outputType(i)));
    else
      results.push_back(TRY(allocateOutput(context, i)));
  }
  return results;
}

/// The result has the type of the scale, which may differ from that of x.
Result<Types> inferRmsNorm(const InferContext& context) {
  Types types = TRY(inferLayerNorm(context));
  return one(context.input(1).dtype, types[0].shape);
}

template <class T>
Result<Tensors> rmsNormAs(const KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", -1), x.dims().size()));
  const double epsilon = static_cast<double>(context.node().floatAttribute("epsilon", 1e-5F));
  const std::int64_t inner =
      elementCount(Dims(x.dims().begin() + static_cast<std::ptrdiff_t>(axis), x.dims().end())).value();
  for (std::int64_t o = 0; inner > 0 && o < x.count() / inner; ++o) {
    const T* from = x.data<T>().data() + o * inner;
    T* to = result.mutableData<T>().data() + o * inner;
    double squares = 0;
    for (std::int64_t i = 0; i < inner; ++i) squares += static_cast<double>(from[i]) * static_cast<double>(from[i]);
    const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(inner) + epsilon);
    for (std::int64_t i = 0; i < inner; ++i) to[i] = static_cast<T>(static_cast<double>(from[i]) * inverse);
  }
  scaleAndShift<T>(context, result, 1, SIZE_MAX);
  return Tensors{std::move(result)};
}

Result<Tensors> rmsNorm(const KernelContext& context) {
  const bool isDouble = context.input(0).type() == DataType::F64 || context.input(1).type() == DataType::F64;
  const DataType wide = isDouble ? DataType::F64 : DataType::F32;
  const Tensor x = context.input(0).converted(wide), scale = context.input(1).converted(wide);
  const Tensor* const inputs[] = {&x, &scale};
  const TensorType output{wide, context.output(0).shape};
  const KernelContext inner(context.node(), inputs, std::span(&output, 1));
  Tensors results = TRY(dispatchFloat(wide, [&]<class T>(std::type_identity<T>) { return rmsNormAs<T>(inner); }));
  return Tensors{results[0].converted(context.outputType(0))};
}

// --- per channel

Result<Types> inferInstanceNorm(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 3));
  const Shape& x = context.input(0).shape;
  TRY(checkPerChannel(context, 1, x.ranked ? x.dims[1] : Dim()));
  return inferLikeFirst(context);
}

Result<Types> inferGroupNorm(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 3));
  const Shape& x = context.input(0).shape;
  const std::int64_t groups = context.node().intAttribute("num_groups", 0);
  if (groups < 1) return attributeProblem("num_groups", "must be given and positive");
  if (x.ranked && x.dims[1].known() && x.dims[1].size % groups != 0)
    return attributeProblem("num_groups", fmt::format("{} does not divide the {} channels", groups, x.dims[1].size));
  TRY(checkPerChannel(context, 1, x.ranked ? x.dims[1] : Dim()));
  return inferLikeFirst(context);
}

/// Normalises each of `groups` groups of channels separately, then scales and shifts each channel.
template <class T>
Result<Tensors> normalizeGroups(const KernelContext& context, std::int64_t groups) {
  const Tensor& x = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  if (x.count() == 0) return Tensors{std::move(result)};
  const double epsilon = static_cast<double>(context.node().floatAttribute("epsilon", 1e-5F));
  const std::int64_t channels = x.dims()[1], perGroup = channels / groups;
  const std::int64_t area = x.count() / x.dims()[0] / channels;
  for (std::int64_t block = 0; block < x.dims()[0] * groups; ++block) {
    const T* from = x.data<T>().data() + block * perGroup * area;
    T* to = result.mutableData<T>().data() + block * perGroup * area;
    const Moments moments = momentsOf(from, perGroup * area);
    const double inverse = 1.0 / std::sqrt(moments.variance + epsilon);
    for (std::int64_t c = 0; c < perGroup; ++c) {
      const std::int64_t channel = block % groups * perGroup + c;
      const double factor = context.input(1).asDouble(channel) * inverse;
      const double shift = context.input(2).asDouble(channel) - moments.mean * factor;
      for (std::int64_t i = 0; i < area; ++i) *to++ = static_cast<T>(static_cast<double>(*from++) * factor + shift);
    }
  }
  return Tensors{std::move(result)};
}

// --- others

Result<Types> inferLpNorm(const InferContext& context) {
  const std::int64_t p = context.node().intAttribute("p", 2);
  if (p != 1 && p != 2) return attributeProblem("p", fmt::format("is {}, expected 1 or 2", p));
  const Shape& shape = context.input(0).shape;
  if (shape.ranked) TRY(normalizedAxis(context.node().intAttribute("axis", -1), shape.rank()));
  return inferLikeFirst(context);
}

template <class T>
Result<Tensors> lpNormAs(const KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", -1), x.dims().size()));
  const bool absolute = context.node().intAttribute("p", 2) == 1;
  const AxisSplit split = splitAt(x.dims(), axis);
  for (std::int64_t line = 0; line < split.outer * split.inner; ++line) {
    const std::int64_t start = line / split.inner * split.extent * split.inner + line % split.inner;
    const T* from = x.data<T>().data() + start;
    T* to = result.mutableData<T>().data() + start;
    double sum = 0;
    for (std::int64_t k = 0; k < split.extent; ++k) {
      const auto value = static_cast<double>(from[k * split.inner]);
      sum += absolute ? std::fabs(value) : value * value;
    }
    const double length = absolute ? sum : std::sqrt(sum);
    for (std::int64_t k = 0; k < split.extent; ++k)
      to[k * split.inner] = length == 0 ? T(0) : static_cast<T>(static_cast<double>(from[k * split.inner]) / length);
  }
  return Tensors{std::move(result)};
}

Result<Types> inferLrn(const InferContext& context) {
  TRY(requireRankAtLeast(context, 0, 2));
  if (context.node().intAttribute("size", 0) < 1) return attributeProblem("size", "must be given and positive");
  return inferLikeFirst(context);
}

/// y = x / (bias + alpha / size * sum of squares over the channels within size / 2)^beta
template <class T>
Result<Tensors> lrnAs(const KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  const Node& node = context.node();
  const std::int64_t size = node.intAttribute("size", 1);
  const double alpha = static_cast<double>(node.floatAttribute("alpha", 1e-4F)) / static_cast<double>(size);
  const double beta = static_cast<double>(node.floatAttribute("beta", 0.75F));
  const double bias = static_cast<double>(node.floatAttribute("bias", 1.0F));
  const AxisSplit split = splitAt(x.dims(), 1);
  const T* from = x.data<T>().data();
  T* to = result.mutableData<T>().data();
  for (std::int64_t o = 0; o < split.outer; ++o) {
    for (std::int64_t c = 0; c < split.extent; ++c) {
      const std::int64_t first = std::max<std::int64_t>(0, c - (size - 1) / 2);
      const std::int64_t last = std::min(split.extent - 1, c + size / 2);
      for (std::int64_t i = 0; i < split.inner; ++i) {
        double squares = 0;
        for (std::int64_t k = first; k <= last; ++k) {
          const auto value = static_cast<double>(from[(o * split.extent + k) * split.inner + i]);
          squares += value * value;
        }
        const std::int64_t at = (o * split.extent + c) * split.inner + i;
        to[at] = static_cast<T>(static_cast<double>(from[at]) / std::pow(bias + alpha * squares, beta));
      }
    }
  }
  return Tensors{std::move(result)};
}

Result<Types> inferMeanVariance(const InferContext& context) {
  const Shape& shape = context.input(0).shape;
  if (shape.ranked) TRY(normalizedAxes(context.node().intsAttribute("axes", {0, 2, 3}), shape.rank()));
  return inferLikeFirst(context);
}

/// y = (x - mean) / (standard deviation + 1e-9) over `axes`
template <class T>
Result<Tensors> meanVarianceAs(const KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  const auto axes = TRY(normalizedAxes(context.node().intsAttribute("axes", {0, 2, 3}), x.dims().size()));
  Dims kept = x.dims();
  for (const std::size_t axis : axes) kept[axis] = 1;
  const Dims dense = denseStrides(x.dims()), toKept = broadcastStrides(kept, x.dims());
  const auto cells = static_cast<std::size_t>(elementCount(kept).value());
  std::vector<double> sums(cells, 0), squares(cells, 0);
  const double count = cells == 0 ? 1 : static_cast<double>(x.count()) / static_cast<double>(cells);
  const T* from = x.data<T>().data();
  T* to = result.mutableData<T>().data();
  const auto visit = [&](auto f) {
    forEachRun<2>(x.dims(), {dense, toKept}, [&](const auto& at, const auto& step, std::int64_t n) {
      for (std::int64_t k = 0; k < n; ++k) f(at[0] + k, static_cast<std::size_t>(at[1] + k * step[1]));
    });
  };
  visit([&](std::int64_t i, std::size_t cell) { sums[cell] += static_cast<double>(from[i]); });
  visit([&](std::int64_t i, std::size_t cell) {
    const double distance = static_cast<double>(from[i]) - sums[cell] / count;
    squares[cell] += distance * distance;
  });
  visit([&](std::int64_t i, std::size_t cell) {
    const double deviation = std::sqrt(squares[cell] / count) + 1e-9;
    to[i] = static_cast<T>((static_cast<double>(from[i]) - sums[cell] / count) / deviation);
  });
  return Tensors{std::move(result)};
}

FlopsFunction perElement(std::int64_t flops) {
  return [=](const Node&, std::span<const Dims> inputs, std::span<const Dims>) {
    return inputs.empty() ? 0 : workOf({flops, workOf(inputs[0])});
  };
}

OpSchema normalization(std::string op, int minInputs, int maxInputs, InferFunction infer, KernelFunction kernel,
                       std::int64_t flopsPerElement, OpSignature signature) {
  return {.op = std::move(op),
          .kind = OpKind::Normalization,
          .minInputs = minInputs,
          .maxInputs = maxInputs,
          .infer = std::move(infer),
          .kernel = std::move(kernel),
          .flops = perElement(flopsPerElement),
          .signature = std::move(signature)};
}

}  // namespace

void registerNormalization(OpRegistry& registry) {
  // Operations per element: mean 1, variance 3, normalise 2, scale 1, shift 1.
  const OpSignature floats{"T", {{'T', kFloatTypes}}};
  registry.add(normalization(
      "GroupNormalization", 3, 3, inferGroupNorm,
      FUSESCOPE_FLOAT_KERNEL(normalizeGroups<T>(context, context.node().intAttribute("num_groups", 1))), 8, floats));
  registry.add(normalization("InstanceNormalization", 3, 3, inferInstanceNorm,
                             FUSESCOPE_FLOAT_KERNEL(normalizeGroups<T>(context, context.input(0).dims()[1])), 8,
                             floats));
  OpSchema layerNorm = normalization("LayerNormalization", 2, 3, inferLayerNorm,
                                     FUSESCOPE_FLOAT_KERNEL(layerNormAs<T>(context)), 8, floats);
  layerNorm.maxOutputs = 3;
  registry.add(std::move(layerNorm));
  registry.add(
      normalization("LpNormalization", 1, 1, inferLpNorm, FUSESCOPE_FLOAT_KERNEL(lpNormAs<T>(context)), 3, floats));
  registry.add(normalization("LRN", 1, 1, inferLrn, FUSESCOPE_FLOAT_KERNEL(lrnAs<T>(context)), 6, floats));
  registry.add(normalization("MeanVarianceNormalization", 1, 1, inferMeanVariance,
                             FUSESCOPE_FLOAT_KERNEL(meanVarianceAs<T>(context)), 6, floats));
  registry.add(normalization("RMSNormalization", 2, 2, inferRmsNorm, rmsNorm, 5,
                             {"TV", {{'T', kFloatTypes}, {'V', kFloatTypes}}}));
}

}  // namespace fusescope::ops
