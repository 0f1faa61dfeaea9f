// Functions of one number without attributes, and tests on one number.
#include <cmath>
#include <numbers>

#include "ops/families.h"
#include "ops/support/unary.h"

namespace fusescope::ops {
namespace {

struct AbsOf {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else if constexpr (std::is_signed_v<T>)
      return static_cast<T>(x < 0 ? T(0) - x : x);
    else
      return x;
  }
};

struct NegOf {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(x));
  }
};

struct SignOf {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return x > 0 ? T(1) : x < 0 ? T(-1) : x;
    else if constexpr (std::is_signed_v<T>)
      return static_cast<T>((x > 0) - (x < 0));
    else
      return static_cast<T>(x > 0);
  }
};

Result<Types> inferBool(const InferContext& context) {
  return one(DataType::Bool, context.input(0).shape);
}

/// Makes an operator whose result says for each element x whether f(x) is true; `make(node)` reads the attributes and
/// returns f.
template <class Make>
OpSchema floatTest(std::string op, Make make) {
  KernelFunction kernel = [make](const KernelContext& context) -> Result<Tensors> {
    Tensor result = TRY(allocateOutput(context));
    dispatchFloat(context.input(0).type(), [&]<class T>(std::type_identity<T>) {
      const auto f = make(context.node());
      const auto from = context.input(0).data<T>();
      const auto to = result.mutableData<std::uint8_t>();
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = f(from[i]);
    });
    return Tensors{std::move(result)};
  };
  return {.op = std::move(op),
          .kind = OpKind::Elementwise,
          .minInputs = 1,
          .maxInputs = 1,
          .infer = inferBool,
          .kernel = widened(std::move(kernel)),
          .signature = {"T", {{'T', kFloatTypes}}}};
}

auto makeIsInf(const Node& node) {
  const bool negative = node.intAttribute("detect_negative", 1) != 0;
  const bool positive = node.intAttribute("detect_positive", 1) != 0;
  return [=](auto x) { return std::isinf(x) && (x < 0 ? negative : positive); };
}

auto makeIsNaN(const Node&) {
  return [](auto x) { return std::isnan(x); };
}

}  // namespace

void registerElementwiseUnary(OpRegistry& registry) {
  const TypeSet signedNumbers = kFloatTypes | kSignedTypes;
  registry.add(numberUnary("Abs", kNumberTypes, AbsOf{}));
  registry.add(floatUnary("Acos", FUSESCOPE_FLOAT_FUNCTION(std::acos(x))));
  registry.add(floatUnary("Acosh", FUSESCOPE_FLOAT_FUNCTION(std::acosh(x))));
  registry.add(floatUnary("Asin", FUSESCOPE_FLOAT_FUNCTION(std::asin(x))));
  registry.add(floatUnary("Asinh", FUSESCOPE_FLOAT_FUNCTION(std::asinh(x))));
  registry.add(floatUnary("Atan", FUSESCOPE_FLOAT_FUNCTION(std::atan(x))));
  registry.add(floatUnary("Atanh", FUSESCOPE_FLOAT_FUNCTION(std::atanh(x))));
  registry.add(floatUnary("Ceil", FUSESCOPE_FLOAT_FUNCTION(std::ceil(x))));
  registry.add(floatUnary("Cos", FUSESCOPE_FLOAT_FUNCTION(std::cos(x))));
  registry.add(floatUnary("Cosh", FUSESCOPE_FLOAT_FUNCTION(std::cosh(x))));
  registry.add(floatUnary("Erf", FUSESCOPE_FLOAT_FUNCTION(std::erf(x))));
  registry.add(floatUnary("Exp", FUSESCOPE_FLOAT_FUNCTION(std::exp(x))));
  registry.add(floatUnary("Floor", FUSESCOPE_FLOAT_FUNCTION(std::floor(x))));
  registry.add(floatTest("IsInf", makeIsInf));
  registry.add(floatTest("IsNaN", makeIsNaN));
  registry.add(floatUnary("Log", FUSESCOPE_FLOAT_FUNCTION(std::log(x))));
  registry.add(numberUnary("Neg", signedNumbers, NegOf{}));
  registry.add(floatUnary("Reciprocal", FUSESCOPE_FLOAT_FUNCTION(decltype(x)(1) / x)));
  registry.add(floatUnary("Round", FUSESCOPE_FLOAT_FUNCTION(std::nearbyint(x))));  // halves to even
  registry.add(numberUnary("Sign", kNumberTypes, SignOf{}));
  registry.add(floatUnary("Sin", FUSESCOPE_FLOAT_FUNCTION(std::sin(x))));
  registry.add(floatUnary("Sinh", FUSESCOPE_FLOAT_FUNCTION(std::sinh(x))));
  registry.add(floatUnary("Sqrt", FUSESCOPE_FLOAT_FUNCTION(std::sqrt(x))));
  registry.add(floatUnary("Tan", FUSESCOPE_FLOAT_FUNCTION(std::tan(x))));
  registry.add(floatUnary("Tanh", FUSESCOPE_FLOAT_FUNCTION(std::tanh(x))));
}

}  // namespace fusescope::ops
