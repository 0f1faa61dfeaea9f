// Softmax and related operators along one axis.
#include <cmath>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/work.h"

namespace fusescope::ops {
namespace {

Result<Types> inferAlongAxis(const InferContext& context) {
  const Shape& shape = context.input(0).shape;
  if (shape.ranked) TRY(normalizedAxis(context.node().intAttribute("axis", -1), shape.rank()));
  return inferLikeFirst(context);
}

/// Calls f(from, to, extent, step) for each line along the node's axis.
template <class T, class F>
Result<Tensors> alongAxis(const KernelContext& context, F f) {
  const Tensor& input = context.input(0);
  Tensor result = TRY(allocateOutput(context));
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", -1), input.dims().size()));
  const AxisSplit split = splitAt(input.dims(), axis);
  for (std::int64_t o = 0; o < split.outer && split.extent > 0; ++o) {
    for (std::int64_t i = 0; i < split.inner; ++i) {
      const std::int64_t start = o * split.extent * split.inner + i;
      f(input.data<T>().data() + start, result.mutableData<T>().data() + start, split.extent, split.inner);
    }
  }
  return Tensors{std::move(result)};
}

template <class T>
T largest(const T* from, std::int64_t extent, std::int64_t step) {
  T most = from[0];
  for (std::int64_t k = 1; k < extent; ++k) most = std::max(most, from[k * step]);
  return most;
}

template <class T>
void softmaxLine(const T* from, T* to, std::int64_t extent, std::int64_t step) {
  const T most = largest(from, extent, step);
  T sum = 0;
  for (std::int64_t k = 0; k < extent; ++k) sum += to[k * step] = std::exp(from[k * step] - most);
  for (std::int64_t k = 0; k < extent; ++k) to[k * step] /= sum;
}

template <class T>
void logSoftmaxLine(const T* from, T* to, std::int64_t extent, std::int64_t step) {
  const T most = largest(from, extent, step);
  T sum = 0;
  for (std::int64_t k = 0; k < extent; ++k) sum += std::exp(from[k * step] - most);
  const T logSum = std::log(sum);
  for (std::int64_t k = 0; k < extent; ++k) to[k * step] = from[k * step] - most - logSum;
}

template <class T>
void hardmaxLine(const T* from, T* to, std::int64_t extent, std::int64_t step) {
  std::int64_t best = 0;
  for (std::int64_t k = 1; k < extent; ++k)
    if (from[k * step] > from[best * step]) best = k;
  to[best * step] = T(1);
}

OpSchema alongAxisSchema(std::string op, KernelFunction kernel, std::int64_t flopsPerElement) {
  return {.op = std::move(op),
          .kind = OpKind::Softmax,
          .minInputs = 1,
          .maxInputs = 1,
          .infer = inferAlongAxis,
          .kernel = widened(std::move(kernel)),
          .flops =
              [=](const Node&, std::span<const Dims> inputs, std::span<const Dims>) {
                return inputs.empty() ? 0 : workOf({flopsPerElement, workOf(inputs[0])});
              },
          .signature = {"T", {{'T', kFloatTypes}}}};
}

template <template <class> class Line>
Result<Tensors> run(const KernelContext& context) {
  return dispatchFloat(context.input(0).type(),
                       [&]<class T>(std::type_identity<T>) { return alongAxis<T>(context, Line<T>{}); });
}

template <class T>
struct SoftmaxLine {
  void operator()(const T* from, T* to, std::int64_t extent, std::int64_t step) const {
    softmaxLine(from, to, extent, step);
  }
};
template <class T>
struct LogSoftmaxLine {
  void operator()(const T* from, T* to, std::int64_t extent, std::int64_t step) const {
    logSoftmaxLine(from, to, extent, step);
  }
};
template <class T>
struct HardmaxLine {
  void operator()(const T* from, T* to, std::int64_t extent, std::int64_t step) const {
    hardmaxLine(from, to, extent, step);
  }
};

}  // namespace

void registerSoftmax(OpRegistry& registry) {
  // Per element: the comparison or subtraction, the exponential, the sum and the division count one each.
  registry.add(alongAxisSchema("Hardmax", run<HardmaxLine>, 1));
  registry.add(alongAxisSchema("LogSoftmax", run<LogSoftmaxLine>, 4));
  registry.add(alongAxisSchema("Softmax", run<SoftmaxLine>, 4));
}

}  // namespace fusescope::ops
