#pragma once

#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {

/// Computes y[i] = f(x[i]), where x and y have the same type T.
template <class T, class F>
Result<Tensors> mapped(const KernelContext& context, F f) {
  Tensor result = TRY(allocateOutput(context));
  const auto from = context.input(0).data<T>();
  const auto to = result.mutableData<T>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(f(from[i]));
  return Tensors{std::move(result)};
}

/// Makes the schema of an operator on floats. `make(node)` reads the attributes once and returns a function of float
/// and of double.
template <class Make>
OpSchema floatUnary(std::string op, Make make) {
  KernelFunction kernel = [make](const KernelContext& context) {
    return dispatchFloat(context.input(0).type(),
                         [&]<class T>(std::type_identity<T>) { return mapped<T>(context, make(context.node())); });
  };
  return {.op = std::move(op),
          .kind = OpKind::Elementwise,
          .minInputs = 1,
          .maxInputs = 1,
          .infer = inferLikeFirst,
          .kernel = widened(std::move(kernel)),
          .signature = {"T", {{'T', kFloatTypes}}}};
}

/// Makes the schema of an operator on floats and integers that has no attributes.
template <class F>
OpSchema numberUnary(std::string op, TypeSet types, F f) {
  KernelFunction kernel = [f](const KernelContext& context) {
    return dispatchNumber(context.input(0).type(),
                          [&]<class T>(std::type_identity<T>) { return mapped<T>(context, f); });
  };
  return {.op = std::move(op),
          .kind = OpKind::Elementwise,
          .minInputs = 1,
          .maxInputs = 1,
          .infer = inferLikeFirst,
          .kernel = widened(std::move(kernel)),
          .signature = {"T", {{'T', types}}}};
}

/// Makes the argument of floatUnary() for an operator without attributes from an expression of `x`.
#define FUSESCOPE_FLOAT_FUNCTION(expression) [](const Node&) { return [](auto x) { return expression; }; }

}  // namespace fusescope::ops
