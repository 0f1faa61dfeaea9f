// Activation functions: elementwise functions, most with parameters, which are read once per run.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/families.h"
#include "ops/support/strided.h"
#include "ops/support/unary.h"

namespace fusescope::ops {
namespace {

template <class T>
T sigmoidOf(T x) {  // both branches avoid exp of a large positive number
  if (x >= 0) return T(1) / (T(1) + std::exp(-x));
  const T e = std::exp(x);
  return e / (T(1) + e);
}

template <class T>
T softplusOf(T x) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::fabs(x)));
}

struct ReluOf {
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;  // NaN is kept
  }
};

auto makeCelu(const Node& node) {
  const float alpha = node.floatAttribute("alpha", 1.0F);
  return [=](auto x) -> decltype(x) { return x > 0 ? x : alpha * std::expm1(x / alpha); };
}

auto makeElu(const Node& node) {
  const float alpha = node.floatAttribute("alpha", 1.0F);
  return [=](auto x) -> decltype(x) { return x < 0 ? alpha * std::expm1(x) : x; };
}

auto makeGelu(const Node& node) {
  const bool tanh = node.textAttribute("approximate", "none") == "tanh";
  return [=](auto x) -> decltype(x) {
    using T = decltype(x);
    if (!tanh) return T(0.5) * x * std::erfc(-x / std::numbers::sqrt2_v<T>);  // accurate also for large negative x
    const T inner = std::sqrt(T(2) * std::numbers::inv_pi_v<T>) * (x + T(0.044715) * x * x * x);
    return x * sigmoidOf(T(2) * inner);  // (1 + tanh(t)) / 2
  };
}

auto makeHardSigmoid(const Node& node) {
  const float alpha = node.floatAttribute("alpha", 0.2F), beta = node.floatAttribute("beta", 0.5F);
  return [=](auto x) -> decltype(x) {
    using T = decltype(x);
    return std::clamp(alpha * x + beta, T(0), T(1));
  };
}

auto makeHardSwish(const Node&) {
  return [](auto x) -> decltype(x) {
    using T = decltype(x);
    return x * std::clamp(x / T(6) + T(0.5), T(0), T(1));
  };
}

auto makeLeakyRelu(const Node& node) {
  const float alpha = node.floatAttribute("alpha", 0.01F);
  return [=](auto x) -> decltype(x) { return x < 0 ? alpha * x : x; };
}

auto makeSelu(const Node& node) {
  const float alpha = node.floatAttribute("alpha", 1.67326319217681884765625F);
  const float gamma = node.floatAttribute("gamma", 1.05070102214813232421875F);
  return [=](auto x) -> decltype(x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); };
}

struct Shrink {
  float bias, lambd;
  template <class T>
  T operator()(T x) const {
    const auto limit = static_cast<double>(lambd), shift = static_cast<double>(bias), value = static_cast<double>(x);
    if (value < -limit) return static_cast<T>(value + shift);
    if (value > limit) return static_cast<T>(value - shift);
    return T(0);
  }
};

auto makeSwish(const Node& node) {
  const float alpha = node.floatAttribute("alpha", 1.0F);
  return [=](auto x) -> decltype(x) { return x * sigmoidOf(alpha * x); };
}

auto makeThresholdedRelu(const Node& node) {
  const float alpha = node.floatAttribute("alpha", 1.0F);
  return [=](auto x) -> decltype(x) { return x > alpha ? x : decltype(x)(0); };
}

Result<Types> inferGelu(const InferContext& context) {
  TRY(choiceAttribute(context.node(), "approximate", "none", {"none", "tanh"}));
  return inferLikeFirst(context);
}

Result<Tensors> shrink(const KernelContext& context) {
  const Shrink f{context.node().floatAttribute("bias", 0.0F), context.node().floatAttribute("lambd", 0.5F)};
  return dispatchNumber(context.input(0).type(), [&]<class T>(std::type_identity<T>) { return mapped<T>(context, f); });
}

Result<Types> inferClip(const InferContext& context) {
  for (std::size_t i = 1; i < 3; ++i) {
    if (!context.hasInput(i) || !context.input(i).shape.ranked) continue;
    if (knownProduct(context.input(i).shape.dims).value_or(1) != 1)
      return problem(std::string(i == 1 ? "min" : "max") + " must be a single number");
  }
  return inferLikeFirst(context);
}

template <class T>
Result<Tensors> clipAs(const KernelContext& context) {
  using Limits = std::numeric_limits<T>;
  const T low = context.hasInput(1) ? context.input(1).data<T>()[0]
                                    : (Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
  const T high =
      context.hasInput(2) ? context.input(2).data<T>()[0] : (Limits::has_infinity ? Limits::infinity() : Limits::max());
  // If min is larger than max, every result is max. NaN is kept.
  return mapped<T>(context, [=](T x) { return x < low ? std::min(low, high) : x > high ? high : x; });
}

Result<Tensors> clip(const KernelContext& context) {
  return dispatchNumber(context.input(0).type(), [&]<class T>(std::type_identity<T>) { return clipAs<T>(context); });
}

Result<Types> inferPRelu(const InferContext& context) {
  const Shape shape = TRY(broadcast(context.input(0).shape, context.input(1).shape));
  const Shape& own = context.input(0).shape;
  if (own.ranked && context.input(1).shape.rank() > own.rank())
    return problem("the slope has more axes than the input");
  return one(context.input(0).dtype, own.ranked ? own : shape);
}

Result<Tensors> prelu(const KernelContext& context) {
  Tensor result = TRY(allocateOutput(context));
  const Dims& dims = result.dims();
  dispatchNumber(result.type(), [&]<class T>(std::type_identity<T>) {
    const T* x = context.input(0).data<T>().data();
    const T* slope = context.input(1).data<T>().data();
    T* y = result.mutableData<T>().data();
    const Dims dense = denseStrides(dims);
    forEachRun<2>(dims, {dense, broadcastStrides(context.input(1).dims(), dims)},
                  [&](const auto& at, const auto& step, std::int64_t count) {
                    for (std::int64_t k = 0; k < count; ++k) {
                      const T value = x[at[0] + k];
                      y[at[0] + k] = value < T(0) ? static_cast<T>(value * slope[at[1] + k * step[1]]) : value;
                    }
                  });
  });
  return Tensors{std::move(result)};
}

}  // namespace

void registerActivations(OpRegistry& registry) {
  const auto add = [&](OpSchema schema, InferFunction infer) {
    schema.infer = std::move(infer);
    registry.add(std::move(schema));
  };
  registry.add(floatUnary("Celu", makeCelu));
  registry.add({.op = "Clip",
                .kind = OpKind::Elementwise,
                .minInputs = 1,
                .maxInputs = 3,
                .infer = inferClip,
                .kernel = widened(clip),
                .signature = {"T", {{'T', kNumberTypes}}}});
  registry.add(floatUnary("Elu", makeElu));
  add(floatUnary("Gelu", makeGelu), inferGelu);
  registry.add(floatUnary("HardSigmoid", makeHardSigmoid));
  registry.add(floatUnary("HardSwish", makeHardSwish));
  registry.add(floatUnary("LeakyRelu", makeLeakyRelu));
  registry.add(floatUnary("Mish", FUSESCOPE_FLOAT_FUNCTION(x * std::tanh(softplusOf(x)))));
  registry.add({.op = "PRelu",
                .kind = OpKind::Elementwise,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferPRelu,
                .kernel = widened(prelu),
                .signature = {"TT", {{'T', kNumberTypes}}}});
  registry.add(numberUnary("Relu", kFloatTypes | kSignedTypes, ReluOf{}));
  registry.add(floatUnary("Selu", makeSelu));
  registry.add({.op = "Shrink",
                .kind = OpKind::Elementwise,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferLikeFirst,
                .kernel = widened(shrink),
                .signature = {"T", {{'T', kNumberTypes}}}});
  registry.add(floatUnary("Sigmoid", FUSESCOPE_FLOAT_FUNCTION(sigmoidOf(x))));
  registry.add(floatUnary("Softplus", FUSESCOPE_FLOAT_FUNCTION(softplusOf(x))));
  registry.add(floatUnary("Softsign", FUSESCOPE_FLOAT_FUNCTION(x / (decltype(x)(1) + std::fabs(x)))));
  registry.add(floatUnary("Swish", makeSwish));
  registry.add(floatUnary("ThresholdedRelu", makeThresholdedRelu));
}

}  // namespace fusescope::ops
