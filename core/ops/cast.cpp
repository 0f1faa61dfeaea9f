// Conversions between element types.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/float_bits.h"
#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

constexpr TypeSet kCastable = kNumberTypes | kStorageTypes | kBoolType | TypeSet{DataType::String};
constexpr TypeSet kBitCastable = kNumberTypes | kStorageTypes | kBoolType | TypeSet{DataType::C64, DataType::C128};

Result<ScaleRounding> scaleRounding(const Node& node) {
  const std::string mode = TRY(choiceAttribute(node, "round_mode", "up", {"up", "down", "nearest"}));
  return mode == "up" ? ScaleRounding::Up : mode == "down" ? ScaleRounding::Down : ScaleRounding::Nearest;
}

Result<Types> inferCast(const InferContext& context) {
  if (!context.node().hasAttribute("to")) return attributeProblem("to", "is missing");
  const DataType to = TRY(typeAttribute(context.node(), "to", DataType::Undefined));
  if (!kCastable.contains(to)) return attributeProblem("to", fmt::format("a Cast to {} is not defined", name(to)));
  TRY(scaleRounding(context.node()));
  return one(to, context.input(0).shape);
}

Result<Types> inferCastLike(const InferContext& context) {
  TRY(scaleRounding(context.node()));
  return one(context.input(1).dtype, context.input(0).shape);
}

/// Prints a number as numpy does: with the fewest digits that restore the number, and at least one after the point.
std::string printed(const Tensor& tensor, std::int64_t i) {
  if (tensor.type() == DataType::Bool) return tensor.asInt64(i) != 0 ? "True" : "False";
  if (tensor.type() == DataType::U64) return std::to_string(static_cast<std::uint64_t>(tensor.asInt64(i)));
  if (isInteger(tensor.type())) return std::to_string(tensor.asInt64(i));
  const double value = tensor.asDouble(i);
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  std::string text =
      tensor.type() == DataType::F64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <class T>
bool parsed(std::string_view text, T& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Returns the number in a text. If it is outside the range of a double, it is rounded to infinity or zero.
std::optional<double> numberIn(const std::string& text) {
  double value = 0;
  if (parsed(text, value)) return value;
  const bool outOfRange = !text.empty() && text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  char* end = nullptr;
  if (outOfRange) value = std::strtod(text.c_str(), &end);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return value;
}

Result<Tensor> integersFrom(const Tensor& tensor, DataType to) {
  Tensor wide = TRY(allocate(to == DataType::U64 ? DataType::U64 : DataType::I64, tensor.dims()));
  for (std::size_t i = 0; i < tensor.strings().size(); ++i) {
    const std::string& text = tensor.strings()[i];
    auto& element = wide.mutableData<std::int64_t>()[i];
    std::uint64_t large = 0;
    if (parsed(text, element)) continue;
    if (!parsed(text, large)) return problem(fmt::format("'{}' is not an integer that 64 bits can hold", text));
    element = static_cast<std::int64_t>(large);
  }
  return wide.converted(to);
}

Result<Tensor> fromTexts(const Tensor& tensor, DataType to) {
  if (isInteger(to)) return integersFrom(tensor, to);
  const std::vector<std::string>& texts = tensor.strings();
  Tensor wide = TRY(allocate(DataType::F64, tensor.dims()));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    double& element = wide.mutableData<double>()[i];
    if (to == DataType::Bool && (texts[i] == "True" || texts[i] == "False")) {
      element = texts[i] == "True" ? 1 : 0;
      continue;
    }
    const auto value = numberIn(texts[i]);
    if (!value) return problem(fmt::format("'{}' is not a number", texts[i]));
    element = *value;
  }
  return wide;
}

/// Converts to a type of 8 bits, code by code, if saturation and rounding are selected.
template <class Code>
Result<Tensor> toCodes(const Tensor& input, DataType to, Code code) {
  Tensor result = TRY(allocate(to, input.dims()));
  const auto codes = result.mutableData<std::uint8_t>();
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes[i] = code(static_cast<float>(input.asDouble(static_cast<std::int64_t>(i))));
  return result;
}

Result<Tensors> cast(const KernelContext& context) {
  Tensor input = context.input(0);
  const DataType to = context.outputType(0);
  if (to == input.type()) return Tensors{input};
  if (to == DataType::String) {
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < input.count(); ++i) texts.push_back(printed(input, i));
    return Tensors{Tensor::ofStrings(input.dims(), std::move(texts))};
  }
  if (input.type() == DataType::String) input = TRY(fromTexts(input, to));
  const bool saturate = context.node().intAttribute("saturate", 1) != 0;
  if (to == DataType::F8E8M0) {
    const ScaleRounding rounding = TRY(scaleRounding(context.node()));
    return Tensors{TRY(toCodes(input, to, [&](float value) { return toScaleBits(value, rounding, saturate); }))};
  }
  if (isFloat(to) && bitWidth(to) == 8 && !saturate)
    return Tensors{TRY(toCodes(input, to, [&](float value) { return toSmallFloatBits(to, value, false); }))};
  return Tensors{input.converted(to)};
}

Result<Types> inferBitCast(const InferContext& context) {
  if (!context.node().hasAttribute("to")) return attributeProblem("to", "is missing");
  const DataType from = context.input(0).dtype, to = TRY(typeAttribute(context.node(), "to", DataType::Undefined));
  if (!kBitCastable.contains(to))
    return attributeProblem("to", fmt::format("a BitCast to {} is not defined", name(to)));
  if (from != DataType::Undefined && bitWidth(from) != bitWidth(to))
    return attributeProblem(
        "to", fmt::format("a BitCast from {} ({} bits) to {} ({} bits) is not possible, because the widths differ",
                          name(from), bitWidth(from), name(to), bitWidth(to)));
  return one(to, context.input(0).shape);
}

Result<Tensors> bitCast(const KernelContext& context) {
  Tensor result = TRY(allocateOutput(context));
  if (result.byteSize() > 0) std::memcpy(result.mutableBytes(), context.input(0).bytes(), result.byteSize());
  return Tensors{std::move(result)};
}

}  // namespace

void registerCast(OpRegistry& registry) {
  registry.add({.op = "BitCast",
                .kind = OpKind::Movement,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferBitCast,
                .kernel = bitCast,
                .signature = {"A", {{'A', kBitCastable}}}});
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
