// Truth values and the bits of integers.
#include <functional>

#include "ops/families.h"
#include "ops/support/pairwise.h"
#include "ops/support/unary.h"

namespace fusescope::ops {
namespace {

/// An operator on two tensors of booleans or integers (Bool is a byte that is 0 or 1).
template <class F>
OpSchema bits(std::string op, TypeSet types, F f) {
  KernelFunction kernel = [f](const KernelContext& context) -> Result<Tensors> {
    Tensor result = TRY(allocateOutput(context));
    dispatchInteger(result.type(), [&]<class T>(std::type_identity<T>) {
      mapPairs<T, T, T>(context.input(0), context.input(1), result, [f](T a, T b) { return static_cast<T>(f(a, b)); });
    });
    return Tensors{std::move(result)};
  };
  return {.op = std::move(op),
          .kind = OpKind::Elementwise,
          .minInputs = 2,
          .maxInputs = 2,
          .infer = inferBroadcast,
          .kernel = std::move(kernel),
          .signature = {"TT", {{'T', types}}}};
}

Result<Types> inferBitShift(const InferContext& context) {
  TRY(choiceAttribute(context.node(), "direction", "", {"LEFT", "RIGHT"}));
  return inferBroadcast(context);
}

/// A shift by a negative number or by at least the width of T leaves only the fill: the sign to the right, 0 to the
/// left.
template <class T>
T shifted(T value, T by, bool left) {
  const bool fills = by < T(0) || by >= static_cast<T>(sizeof(T) * 8);
  if (fills) return !left && value < T(0) ? static_cast<T>(-1) : T(0);
  return static_cast<T>(left ? static_cast<std::uint64_t>(value) << by : value >> by);
}

Result<Tensors> bitShift(const KernelContext& context) {
  const bool left = context.node().textAttribute("direction", "") == "LEFT";
  Tensor result = TRY(allocateOutput(context));
  dispatchInteger(result.type(), [&]<class T>(std::type_identity<T>) {
    mapPairs<T, T, T>(context.input(0), context.input(1), result,
                      [=](T value, T by) { return shifted(value, by, left); });
  });
  return Tensors{std::move(result)};
}

Result<Tensors> bitwiseNot(const KernelContext& context) {
  return dispatchInteger(context.input(0).type(),
                         [&]<class T>(std::type_identity<T>) { return mapped<T>(context, [](T x) { return ~x; }); });
}

Result<Tensors> logicalNot(const KernelContext& context) {
  return mapped<std::uint8_t>(context, [](std::uint8_t x) { return x == 0 ? 1 : 0; });
}

}  // namespace

void registerLogicalBitwise(OpRegistry& registry) {
  registry.add(bits("And", kBoolType, std::bit_and<>{}));
  registry.add({.op = "BitShift",
                .kind = OpKind::Elementwise,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferBitShift,
                .kernel = bitShift,
                .signature = {"TT", {{'T', kIntegerTypes}}}});
  registry.add(bits("BitwiseAnd", kIntegerTypes, std::bit_and<>{}));
  registry.add({.op = "BitwiseNot",
                .kind = OpKind::Elementwise,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferLikeFirst,
                .kernel = bitwiseNot,
                .signature = {"T", {{'T', kIntegerTypes}}}});
  registry.add(bits("BitwiseOr", kIntegerTypes, std::bit_or<>{}));
  registry.add(bits("BitwiseXor", kIntegerTypes, std::bit_xor<>{}));
  registry.add({.op = "Not",
                .kind = OpKind::Elementwise,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferLikeFirst,
                .kernel = logicalNot,
                .signature = {"T", {{'T', kBoolType}}}});
  registry.add(bits("Or", kBoolType, std::bit_or<>{}));
  registry.add(bits("Xor", kBoolType, std::bit_xor<>{}));
}

}  // namespace fusescope::ops
