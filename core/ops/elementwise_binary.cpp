// Arithmetic of two or more broadcast operands.
#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/support/extremes.h"
#include "ops/support/pairwise.h"

namespace fusescope::ops {
namespace {

// Integers wrap, as on the hardware: signed arithmetic uses the unsigned type of the same width.
template <class T>
using Wrapping = std::conditional_t<std::is_floating_point_v<T>, T,
                                    std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>>;

struct AddOf {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct SubOf {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct MulOf {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
};
struct DivOf {  // integers truncate towards zero; a division of integers by zero has been refused before
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_signed_v<T> && std::is_integral_v<T>)
      if (b == T(-1)) return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(a));
    return static_cast<T>(a / b);
  }
};
struct MaxOf {
  template <class T>
  T operator()(T a, T b) const {
    return largerOf(a, b);
  }
};
struct MinOf {
  template <class T>
  T operator()(T a, T b) const {
    return smallerOf(a, b);
  }
};
struct FmodOf {  // the result has the sign of the dividend
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fmod(a, b);
    else if constexpr (std::is_signed_v<T>)
      return b == T(-1) ? T(0) : static_cast<T>(a % b);
    else
      return static_cast<T>(a % b);
  }
};
struct ModOf {  // the result has the sign of the divisor
  template <class T>
  T operator()(T a, T b) const {
    const T rest = FmodOf{}(a, b);
    if constexpr (std::is_floating_point_v<T>)
      if (std::isinf(b) && std::isfinite(a)) return rest == T(0) || (rest < T(0)) == (b < T(0)) ? rest : b;
    if constexpr (std::is_unsigned_v<T>)
      return rest;
    else if (rest == T(0) && std::is_floating_point_v<T>)
      return std::is_floating_point_v<T> ? static_cast<T>(std::copysign(0.0, static_cast<double>(b))) : rest;
    else
      return rest != T(0) && (rest < T(0)) != (b < T(0)) ? static_cast<T>(rest + b) : rest;
  }
};

template <class A, class B>
A powOf(A a, B b) {
  if constexpr (std::is_floating_point_v<A>) {
    return static_cast<A>(std::pow(a, static_cast<std::conditional_t<std::is_same_v<B, double>, double, A>>(b)));
  } else if constexpr (std::is_integral_v<B>) {
    if (b < B(0)) return a == A(1) ? A(1) : a == A(-1) ? static_cast<A>(b % 2 == 0 ? 1 : -1) : A(0);
    std::uint64_t result = 1, factor = static_cast<std::uint64_t>(a);
    for (auto left = static_cast<std::uint64_t>(b); left != 0; left >>= 1, factor *= factor)
      if ((left & 1) != 0) result *= factor;
    return static_cast<A>(result);
  } else {
    return static_cast<A>(std::pow(static_cast<double>(a), static_cast<double>(b)));
  }
}

/// Integers cannot be divided by zero; floats can.
Status checkDivisor(const Tensor& divisor) {
  if (isFloat(divisor.type())) return Done{};
  for (std::int64_t i = 0; i < divisor.count(); ++i)
    if (divisor.asInt64(i) == 0) return problem("an integer is divided by zero");
  return Done{};
}

template <class F>
Result<Tensors> pairwise(const KernelContext& context, F f) {
  Tensor result = TRY(allocateOutput(context));
  dispatchNumber(result.type(), [&]<class T>(std::type_identity<T>) {
    mapPairs<T, T, T>(context.input(0), context.input(1), result, f);
  });
  return Tensors{std::move(result)};
}

template <class F>
OpSchema arithmetic(std::string op, F f) {
  KernelFunction kernel = [f](const KernelContext& context) { return pairwise(context, f); };
  return {.op = std::move(op),
          .kind = OpKind::Elementwise,
          .minInputs = 2,
          .maxInputs = 2,
          .infer = inferBroadcast,
          .kernel = widened(std::move(kernel)),
          .signature = {"TT", {{'T', kNumberTypes}}}};
}

Result<Tensors> divide(const KernelContext& context) {
  TRY(checkDivisor(context.input(1)));
  return pairwise(context, DivOf{});
}

Result<Tensors> modulo(const KernelContext& context) {
  TRY(checkDivisor(context.input(1)));
  return context.node().intAttribute("fmod", 0) != 0 ? pairwise(context, FmodOf{}) : pairwise(context, ModOf{});
}

Result<Tensors> power(const KernelContext& context) {
  Tensor result = TRY(allocateOutput(context));
  dispatchNumber(context.input(0).type(), [&]<class A>(std::type_identity<A>) {
    dispatchNumber(context.input(1).type(), [&]<class B>(std::type_identity<B>) {
      mapPairs<A, B, A>(context.input(0), context.input(1), result, powOf<A, B>);
    });
  });
  return Tensors{std::move(result)};
}

/// Makes an operator that combines any number of operands from the left. `finish(sum, operands)` calculates the final
/// result, for example the division of Mean.
template <class F, class Finish>
OpSchema variadic(std::string op, TypeSet types, F f, Finish finish) {
  KernelFunction kernel = [f, finish](const KernelContext& context) -> Result<Tensors> {
    Tensor result = TRY(allocateOutput(context));
    dispatchNumber(result.type(), [&]<class T>(std::type_identity<T>) {
      mapPairs<T, T, T>(context.input(0), context.input(0), result, [](T a, T) { return a; });
      for (std::size_t i = 1; i < context.inputCount(); ++i) mapPairs<T, T, T>(result, context.input(i), result, f);
      for (T& element : result.mutableData<T>()) element = finish(element, context.inputCount());
    });
    return Tensors{std::move(result)};
  };
  return {.op = std::move(op),
          .kind = OpKind::Elementwise,
          .minInputs = 1,
          .maxInputs = -1,
          .infer = inferBroadcast,
          .kernel = widened(std::move(kernel)),
          .signature = {"T", {{'T', types}}}};
}

constexpr auto kNoFinish = [](auto value, std::size_t) { return value; };
constexpr auto kDivideByCount = [](auto value, std::size_t count) {
  return static_cast<decltype(value)>(value / static_cast<decltype(value)>(count));
};

}  // namespace

void registerElementwiseBinary(OpRegistry& registry) {
  const OpSignature numbers{"TT", {{'T', kNumberTypes}}};
  registry.add(arithmetic("Add", AddOf{}));
  registry.add({.op = "Div",
                .kind = OpKind::Elementwise,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferBroadcast,
                .kernel = widened(divide),
                .signature = numbers});
  registry.add(variadic("Max", kNumberTypes, MaxOf{}, kNoFinish));
  registry.add(variadic("Mean", kFloatTypes, AddOf{}, kDivideByCount));
  registry.add(variadic("Min", kNumberTypes, MinOf{}, kNoFinish));
  registry.add({.op = "Mod",
                .kind = OpKind::Elementwise,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferBroadcast,
                .kernel = widened(modulo),
                .signature = numbers});
  registry.add(arithmetic("Mul", MulOf{}));
  registry.add({.op = "Pow",
                .kind = OpKind::Elementwise,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferBroadcast,
                .kernel = widened(power),
                .signature = {"TE", {{'T', kNumberTypes}, {'E', kNumberTypes}}}});
  registry.add(arithmetic("Sub", SubOf{}));
  registry.add(variadic("Sum", kFloatTypes, AddOf{}, kNoFinish));
}

}  // namespace fusescope::ops
