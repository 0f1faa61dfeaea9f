// BatchNormalization: with estimated statistics, or with those of the batch when training.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/families.h"
#include "ops/support/kernel_support.h"
#include "ops/support/require_extents.h"
#include "ops/support/work.h"

namespace fusescope::ops {
namespace {

bool isTraining(const Node& node) {
  return node.intAttribute("training_mode", 0) != 0;
}

/// In training, the results are y and the running mean and variance; otherwise only y. The channels are axis 1; a
/// tensor of rank 1 is one channel.
Result<Types> inferBatchNorm(const InferContext& context) {
  constexpr std::array<std::string_view, 5> kNames{"X", "scale", "B", "input_mean", "input_var"};
  const Shape& x = context.input(0).shape;
  if (x.ranked && x.rank() == 0) return problem("the input is a single number, which has no channels");
  const Dim channels = !x.ranked ? Dim() : x.rank() > 1 ? x.dims[1] : Dim(1);
  for (std::size_t i = 1; i < 5; ++i) TRY(requireExtents(context, i, kNames[i], {channels}));
  const auto wanted = std::ranges::count_if(context.node().outputs, [](ValueId output) { return output.valid(); });
  if (!isTraining(context.node()) && wanted > 1)
    return attributeProblem("training_mode", "is 0, so y must be the only output, but the node has more outputs");
  return Types{context.input(0), context.input(3), context.input(4)};
}

/// A tensor as [batch, channels, area].
struct Channels {
  std::int64_t batch = 0, channels = 0, area = 0;

  explicit Channels(const Dims& dims) : batch(dims[0]), channels(dims.size() > 1 ? dims[1] : 1), area(1) {
    for (std::size_t i = 2; i < dims.size(); ++i) area *= dims[i];
  }
  /// Calls f(offset of the first element, number of elements) for each stretch of channel `c`.
  template <class F>
  void forEachStretch(std::int64_t c, F f) const {
    for (std::int64_t n = 0; n < batch; ++n) f((n * channels + c) * area, area);
  }
};

struct ChannelMoments {
  double mean = 0, variance = 0;
};

/// Mean and variance of one channel, summed in double.
template <class T>
ChannelMoments momentsOf(const T* x, const Channels& extents, std::int64_t c) {
  ChannelMoments moments;
  const double count = static_cast<double>(extents.batch * extents.area);
  extents.forEachStretch(c, [&](std::int64_t from, std::int64_t length) {
    for (std::int64_t i = from; i < from + length; ++i) moments.mean += static_cast<double>(x[i]) / count;
  });
  extents.forEachStretch(c, [&](std::int64_t from, std::int64_t length) {
    for (std::int64_t i = from; i < from + length; ++i) {
      const double distance = static_cast<double>(x[i]) - moments.mean;
      moments.variance += distance * distance / count;
    }
  });
  return moments;
}

/// Returns the statistics for the normalisation: those of the batch in training, otherwise the estimates that are
/// inputs.
template <class T>
std::vector<ChannelMoments> statistics(const KernelContext& context, const Channels& extents) {
  std::vector<ChannelMoments> result;
  for (std::int64_t c = 0; c < extents.channels; ++c)
    result.push_back(isTraining(context.node())
                         ? momentsOf(context.input(0).data<T>().data(), extents, c)
                         : ChannelMoments{context.input(3).asDouble(c), context.input(4).asDouble(c)});
  return result;
}

/// Returns estimate · momentum + current · (1 - momentum).
template <class Current>
Result<Tensor> runningStatistic(const KernelContext& context, std::size_t output, std::size_t estimate,
                                const std::vector<ChannelMoments>& moments, Current current) {
  const auto momentum = static_cast<double>(context.node().floatAttribute("momentum", 0.9F));
  Tensor result = TRY(allocate(DataType::F64, context.outputDims(output)));
  for (std::size_t c = 0; c < moments.size(); ++c)
    result.mutableData<double>()[c] = context.input(estimate).asDouble(static_cast<std::int64_t>(c)) * momentum +
                                      current(moments[c]) * (1 - momentum);
  return result.converted(context.outputType(output));
}

/// Calculates y = (x - mean) / sqrt(variance + epsilon) · scale + B, channel by channel.
template <class T>
Result<Tensors> batchNormAs(const KernelContext& context) {
  const Channels extents(context.input(0).dims());
  Tensor result = TRY(allocateOutput(context));
  const std::vector<ChannelMoments> moments = statistics<T>(context, extents);
  const auto epsilon = static_cast<double>(context.node().floatAttribute("epsilon", 1e-5F));
  const T* x = context.input(0).data<T>().data();
  T* y = result.mutableData<T>().data();
  for (std::int64_t c = 0; c < extents.channels; ++c) {
    const ChannelMoments& channel = moments[static_cast<std::size_t>(c)];
    const double factor = context.input(1).asDouble(c) / std::sqrt(channel.variance + epsilon);
    const double shift = context.input(2).asDouble(c) - channel.mean * factor;
    extents.forEachStretch(c, [&](std::int64_t from, std::int64_t length) {
      for (std::int64_t i = from; i < from + length; ++i)
        y[i] = static_cast<T>(static_cast<double>(x[i]) * factor + shift);
    });
  }
  Tensors results{std::move(result)};
  if (context.outputCount() > 1)
    results.push_back(TRY(runningStatistic(context, 1, 3, moments, [](const ChannelMoments& m) { return m.mean; })));
  if (context.outputCount() > 2)
    results.push_back(
        TRY(runningStatistic(context, 2, 4, moments, [](const ChannelMoments& m) { return m.variance; })));
  return results;
}

std::int64_t batchNormFlops(const Node&, std::span<const Dims> inputs, std::span<const Dims>) {
  return inputs.empty() ? 0 : workOf({2, workOf(inputs[0])});  // also counts the factor and the shift of each channel
}

}  // namespace

void registerBatchNormalization(OpRegistry& registry) {
  registry.add({.op = "BatchNormalization",
                .kind = OpKind::Normalization,
                .minInputs = 5,
                .maxInputs = 5,
                .infer = inferBatchNorm,
                .kernel = FUSESCOPE_FLOAT_KERNEL(batchNormAs<T>(context)),
                .flops = batchNormFlops,
                .maxOutputs = 3,
                .signature = {"TSSMM", {{'T', kFloatTypes}, {'S', kFloatTypes}, {'M', kFloatTypes}}}});
}

}  // namespace fusescope::ops
