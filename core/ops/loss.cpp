// Losses of classifiers: NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss, formulas of the ONNX operators' pages.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/support/kernel_support.h"
#include "ops/support/require_extents.h"

namespace fusescope::ops {
namespace {

/// Scores are [N, C, places …], labels [N, places …], weights [C]. The loss has the extents of the labels, or is one
/// number. SoftmaxCrossEntropyLoss also returns the logarithms of probabilities, in the type and extents of the scores.
Result<Types> inferLoss(const InferContext& context) {
  const std::string reduction = TRY(choiceAttribute(context.node(), "reduction", "mean", {"none", "sum", "mean"}));
  TRY(requireRankAtLeast(context, 0, 2));
  TRY(requireRankAtLeast(context, 1, 1));
  const TensorType& scores = context.input(0);
  Shape loss = context.input(1).shape;
  if (scores.shape.ranked) {
    std::vector<Dim> labels = scores.shape.dims;
    labels.erase(labels.begin() + 1);
    TRY(requireExtents(context, 1, "labels", labels));
    TRY(requireExtents(context, 2, "weights", {scores.shape.dims[1]}));
    loss = Shape::of(std::move(labels));
  }
  if (reduction != "none") loss = Shape::of(Dims{});
  return Types{{scores.dtype, loss}, scores};
}

/// The extents of a node (batch, classes, places), and which labels count.
struct LossExtents {
  std::int64_t batch, classes, places;
  std::optional<std::int64_t> ignored;

  explicit LossExtents(const KernelContext& context)
      : batch(context.input(0).dims()[0]), classes(context.input(0).dims()[1]), places(1) {
    const Dims& dims = context.input(0).dims();
    for (std::size_t i = 2; i < dims.size(); ++i) places *= dims[i];
    if (context.node().hasAttribute("ignore_index")) ignored = context.node().intAttribute("ignore_index", 0);
  }
};

/// The loss of each label, and the weight with which it counts, which is 0 if it is ignored.
struct Losses {
  std::vector<double> loss, weight;
};

template <class T>
Result<Losses> lossesOf(const KernelContext& context, const LossExtents& extents, std::span<const T> logarithms) {
  Losses losses;
  for (std::int64_t i = 0; i < extents.batch * extents.places; ++i) {
    const std::int64_t label = context.input(1).asInt64(i);
    if (extents.ignored && label == *extents.ignored) {
      losses.loss.push_back(0);
      losses.weight.push_back(0);
      continue;
    }
    if (label < 0 || label >= extents.classes)
      return problem(fmt::format("label {} is {}, but there are {} classes", i, label, extents.classes),
                     "If this label is to be ignored, set the attribute ignore_index to it.");
    const double weight = context.hasInput(2) ? context.input(2).asDouble(label) : 1.0;
    const std::int64_t at = (i / extents.places * extents.classes + label) * extents.places + i % extents.places;
    losses.loss.push_back(-static_cast<double>(logarithms[static_cast<std::size_t>(at)]) * weight);
    losses.weight.push_back(weight);
  }
  return losses;
}

/// Returns the losses, their sum, or their sum divided by the sum of their weights.
template <class T>
Result<Tensor> reducedLoss(const KernelContext& context, const LossExtents& extents, std::span<const T> logarithms) {
  Tensor result = TRY(allocateOutput(context));
  const Losses losses = TRY(lossesOf(context, extents, logarithms));
  const std::string reduction = context.node().textAttribute("reduction", "mean");
  if (reduction == "none") {
    std::ranges::transform(losses.loss, result.mutableData<T>().begin(), [](double x) { return static_cast<T>(x); });
    return result;
  }
  double sum = 0, weight = 0;
  for (const double loss : losses.loss) sum += loss;
  for (const double part : losses.weight) weight += part;
  result.mutableData<T>()[0] = static_cast<T>(reduction == "mean" ? sum / weight : sum);
  return result;
}

template <class T>
Result<Tensors> negativeLogLikelihoodAs(const KernelContext& context) {
  return Tensors{TRY(reducedLoss<T>(context, LossExtents(context), context.input(0).data<T>()))};
}

/// Returns the logarithms of the softmax over the classes. The largest score is subtracted first, so that exp cannot
/// overflow.
template <class T>
Result<Tensor> logSoftmax(const KernelContext& context, const LossExtents& extents) {
  const Tensor& scores = context.input(0);
  Tensor result = TRY(allocate(scores.type(), scores.dims()));
  for (std::int64_t line = 0; line < extents.batch * extents.places; ++line) {
    const std::int64_t start = line / extents.places * extents.classes * extents.places + line % extents.places;
    const T* from = scores.data<T>().data() + start;
    T* to = result.mutableData<T>().data() + start;
    double most = -INFINITY, sum = 0;
    for (std::int64_t c = 0; c < extents.classes; ++c)
      most = std::max(most, static_cast<double>(from[c * extents.places]));
    for (std::int64_t c = 0; c < extents.classes; ++c)
      sum += std::exp(static_cast<double>(from[c * extents.places]) - most);
    for (std::int64_t c = 0; c < extents.classes; ++c)
      to[c * extents.places] = static_cast<T>(static_cast<double>(from[c * extents.places]) - most - std::log(sum));
  }
  return result;
}

template <class T>
Result<Tensors> softmaxCrossEntropyAs(const KernelContext& context) {
  const LossExtents extents(context);
  Tensor logarithms = TRY(logSoftmax<T>(context, extents));
  Tensors results{TRY(reducedLoss<T>(context, extents, logarithms.data<T>()))};
  if (context.outputCount() > 1) results.push_back(std::move(logarithms));
  return results;
}

OpSchema loss(std::string op, int maxOutputs, KernelFunction kernel) {
  return {.op = std::move(op),
          .kind = OpKind::Other,
          .minInputs = 2,
          .maxInputs = 3,
          .infer = inferLoss,
          .kernel = std::move(kernel),
          .maxOutputs = maxOutputs,
          .signature = {"TIT", {{'T', kWideFloatTypes}, {'I', kIndexTypes}}}};
}

}  // namespace

void registerLoss(OpRegistry& registry) {
  registry.add(loss("NegativeLogLikelihoodLoss", 1, FUSESCOPE_FLOAT_KERNEL(negativeLogLikelihoodAs<T>(context))));
  registry.add(loss("SoftmaxCrossEntropyLoss", 2, FUSESCOPE_FLOAT_KERNEL(softmaxCrossEntropyAs<T>(context))));
}

}  // namespace fusescope::ops
