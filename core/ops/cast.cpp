// Conversions between element types.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

constexpr TypeSet kCastable = kNumberTypes | kNibbleTypes | kBoolType | kFnuzTypes | TypeSet{DataType::String};

Status checkTarget(DataType type, const std::string& attribute) {
  if (kCastable.contains(type)) return Done{};
  return attributeProblem(attribute, fmt::format("a Cast to {} is not defined", name(type)));
}

Result<Types> inferCast(const InferContext& context) {
  if (!context.node().hasAttribute("to")) return attributeProblem("to", "is missing");
  const DataType to = TRY(typeAttribute(context.node(), "to", DataType::Undefined));
  TRY(checkTarget(to, "to"));
  return one(to, context.input(0).shape);
}

Result<Types> inferCastLike(const InferContext& context) {
  return one(context.input(1).dtype, context.input(0).shape);
}

std::string printed(const Tensor& tensor, std::int64_t i) {
  if (tensor.type() == DataType::Bool) return tensor.asInt64(i) != 0 ? "True" : "False";
  if (tensor.type() == DataType::U64) return std::to_string(static_cast<std::uint64_t>(tensor.asInt64(i)));
  if (isInteger(tensor.type())) return std::to_string(tensor.asInt64(i));
  const double value = tensor.asDouble(i);
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  return tensor.type() == DataType::F64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

Result<Tensor> fromTexts(const Tensor& tensor, DataType to) {
  const std::vector<std::string>& texts = tensor.strings();
  if (isInteger(to)) {
    Tensor wide = TRY(allocate(DataType::I64, tensor.dims()));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string& text = texts[i];
      const auto [end, error] =
          std::from_chars(text.data(), text.data() + text.size(), wide.mutableData<std::int64_t>()[i]);
      if (error != std::errc() || end != text.data() + text.size())
        return problem(fmt::format("'{}' is not an integer", text));
    }
    return wide.converted(to);
  }
  Tensor wide = TRY(allocate(DataType::F64, tensor.dims()));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    char* end = nullptr;
    wide.mutableData<double>()[i] = std::strtod(texts[i].c_str(), &end);
    if (texts[i].empty() || *end != '\0') return problem(fmt::format("'{}' is not a number", texts[i]));
  }
  return wide.converted(to);
}

/// To float8: beyond the largest number comes that number, or without `saturate` infinity (e5m2) or NaN (e4m3).
Tensor toFloat8(const Tensor& input, DataType to, bool saturate) {
  const bool e4m3 = to == DataType::F8E4M3;
  const unsigned beyond = e4m3 ? (saturate ? 0x7eU : 0x7fU) : (saturate ? 0x7bU : 0x7cU);
  Tensor result = input.converted(to);
  for (std::int64_t i = 0; i < input.count(); ++i) {
    const double value = input.asDouble(i);
    // Half way to the next step, ties to even: 464 rounds to 448, 61440 away from 57344.
    if (e4m3 ? std::fabs(value) > 464 : std::fabs(value) >= 61440)
      result.mutableBytes()[i] = static_cast<std::byte>(beyond | (value < 0 ? 0x80U : 0U));
  }
  return result;
}

Result<Tensors> cast(const KernelContext& context) {
  const Tensor& input = context.input(0);
  const DataType to = context.outputType(0);
  if (to == input.type()) return Tensors{input};
  if (kFnuzTypes.contains(to)) return problem(fmt::format("the reference kernels cannot convert to {}", name(to)));
  if (input.type() == DataType::String) return Tensors{TRY(fromTexts(input, to))};
  if (to == DataType::F8E4M3 || to == DataType::F8E5M2)
    return Tensors{toFloat8(input, to, context.node().intAttribute("saturate", 1) != 0)};
  if (to != DataType::String) return Tensors{input.converted(to)};
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < input.count(); ++i) texts.push_back(printed(input, i));
  return Tensors{Tensor::ofStrings(input.dims(), std::move(texts))};
}

}  // namespace

void registerCast(OpRegistry& registry) {
  registry.add({.op = "Cast",
                .kind = OpKind::Elementwise,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferCast,
                .kernel = cast,
                .signature = {"A", {{'A', kCastable}}}});
  registry.add({.op = "CastLike",
                .kind = OpKind::Elementwise,
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferCastLike,
                .kernel = cast,
                .signature = {"AB", {{'A', kCastable}, {'B', kCastable}}}});
}

}  // namespace fusescope::ops
