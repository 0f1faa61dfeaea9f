// Texts: joined, split, matched and cleaned.
// Semantics: ONNX operators StringConcat, StringSplit, RegexFullMatch and StringNormalizer.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/regular_expression.h"
#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/letter_case.h"
#include "ops/support/list_attributes.h"
#include "ops/support/strided.h"

namespace fusescope::ops {
namespace text_operators {
namespace {

using Texts = std::vector<std::string>;

// --- StringConcat

Result<Types> inferConcat(const InferContext& context) {
  return one(DataType::String, TRY(broadcastInputs(context)));
}

Result<Tensors> concat(const KernelContext& context) {
  const Dims dims = context.outputDims(0);
  const Texts &a = context.input(0).strings(), &b = context.input(1).strings();
  auto builder = TRY(Builder<std::string>::create(DataType::String, dims));
  const Dims left = broadcastStrides(context.input(0).dims(), dims);
  const Dims right = broadcastStrides(context.input(1).dims(), dims);
  auto to = builder.elements().begin();
  forEachIndex(dims, [&](const Dims& index) {
    *to++ = a[static_cast<std::size_t>(offsetOf(index, left))] + b[static_cast<std::size_t>(offsetOf(index, right))];
    return true;
  });
  return Tensors{std::move(builder).finish()};
}

// --- StringSplit

Result<Types> inferSplit(const InferContext& context) {
  TensorType parts = context.input(0);
  parts.dtype = DataType::String;
  if (parts.shape.ranked) parts.shape.dims.emplace_back();
  return Types{std::move(parts), {DataType::I64, context.input(0).shape}};
}

Texts splitAtDelimiter(const std::string& text, const std::string& delimiter, std::int64_t most) {
  Texts parts;
  std::size_t from = 0;
  for (std::int64_t splits = 0; splits < most; ++splits) {
    const std::size_t at = text.find(delimiter, from);
    if (at == std::string::npos) break;
    parts.push_back(text.substr(from, at - from));
    from = at + delimiter.size();
  }
  parts.push_back(text.substr(from));
  return parts;
}

/// Splits at runs of white space. After the last allowed split, the rest is unchanged.
Texts splitAtSpace(const std::string& text, std::int64_t most) {
  constexpr const char* kSpace = " \t\n\v\f\r";
  Texts parts;
  std::size_t from = text.find_first_not_of(kSpace);
  while (from != std::string::npos) {
    const std::size_t end = std::ssize(parts) < most ? text.find_first_of(kSpace, from) : std::string::npos;
    parts.push_back(text.substr(from, end == std::string::npos ? end : end - from));
    from = end == std::string::npos ? end : text.find_first_not_of(kSpace, end);
  }
  return parts;
}

Result<Tensors> split(const KernelContext& context) {
  const Tensor& x = context.input(0);
  const std::string delimiter = context.node().textAttribute("delimiter", "");
  const std::int64_t most = context.node().intAttribute("maxsplit", INT64_MAX);
  if (most < 0) return attributeProblem("maxsplit", fmt::format("is {}, but it must not be negative", most));
  std::vector<Texts> parts;
  std::size_t longest = 0;
  for (const std::string& text : x.strings()) {
    parts.push_back(delimiter.empty() ? splitAtSpace(text, most) : splitAtDelimiter(text, delimiter, most));
    longest = std::max(longest, parts.back().size());
  }
  Dims dims = x.dims();
  dims.push_back(static_cast<std::int64_t>(longest));
  auto builder = TRY(Builder<std::string>::create(DataType::String, dims));
  Tensor counts = TRY(allocate(DataType::I64, x.dims()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::ranges::copy(parts[i], builder.elements().begin() + static_cast<std::ptrdiff_t>(i * longest));
    counts.mutableData<std::int64_t>()[i] = std::ssize(parts[i]);
  }
  return Tensors{std::move(builder).finish(), std::move(counts)};
}

// --- RegexFullMatch

/// Compiles the attribute `pattern`; ONNX specifies the syntax of RE2.
Result<RegularExpression> patternOf(const Node& node) {
  if (!node.hasAttribute("pattern")) return attributeProblem("pattern", "is missing");
  auto pattern = RegularExpression::create(node.textAttribute("pattern", ""));
  if (!pattern.ok())
    return attributeProblem("pattern", "is not a regular expression of RE2: " + pattern.error().message);
  return pattern;
}

Result<Types> inferMatch(const InferContext& context) {
  TRY(patternOf(context.node()));
  return one(DataType::Bool, context.input(0).shape);
}

Result<Tensors> match(const KernelContext& context) {
  const auto pattern = TRY(patternOf(context.node()));
  Tensor result = TRY(allocateOutput(context));
  std::ranges::transform(context.input(0).strings(), result.mutableData<std::uint8_t>().begin(),
                         [&](const std::string& text) { return static_cast<std::uint8_t>(pattern.matchesAll(text)); });
  return Tensors{std::move(result)};
}

// --- StringNormalizer

Result<Types> inferNormalizer(const InferContext& context) {
  TRY(choiceAttribute(context.node(), "case_change_action", "NONE", {"NONE", "LOWER", "UPPER"}));
  const Shape& x = context.input(0).shape;
  if (!x.ranked) return one(DataType::String, Shape::unknown());
  if (x.rank() != 1 && x.rank() != 2) return problem(fmt::format("input 0 has rank {}, expected 1 or 2", x.rank()));
  if (x.rank() == 1) return one(DataType::String, Shape::of({Dim()}));
  TRY(unified(context, x.dims[0], Dim(1), "the first of two extents and 1"));
  return one(DataType::String, Shape::of({Dim(1), Dim()}));
}

/// Returns the elements that are not stop words.
Result<Texts> withoutStopWords(const Node& node, const Texts& texts) {
  const bool exact = node.intAttribute("is_case_sensitive", 0) != 0;
  const auto key = [&](const std::string& text) -> Result<std::string> {
    if (exact) return text;
    return inCase(text, LetterCase::Lower);
  };
  std::set<std::string> stopWords;
  for (const std::string& word : listAttribute<std::string>(node, "stopwords")) stopWords.insert(TRY(key(word)));
  Texts kept;
  for (const std::string& text : texts)
    if (stopWords.empty() || !stopWords.contains(TRY(key(text)))) kept.push_back(text);
  return kept;
}

Result<Tensors> normalize(const KernelContext& context) {
  const Node& node = context.node();
  const std::string action = node.textAttribute("case_change_action", "NONE");
  Texts texts = TRY(withoutStopWords(node, context.input(0).strings()));
  if (action != "NONE")
    for (std::string& text : texts) text = TRY(inCase(text, action == "LOWER" ? LetterCase::Lower : LetterCase::Upper));
  if (texts.empty()) texts.emplace_back();  // an empty result is one empty text
  Dims dims = context.input(0).dims();
  dims.back() = std::ssize(texts);
  return Tensors{Tensor::ofStrings(std::move(dims), std::move(texts))};
}

OpSchema texts(std::string op, int inputs, InferFunction infer, KernelFunction kernel) {
  return {.op = std::move(op),
          .kind = OpKind::Other,
          .minInputs = inputs,
          .maxInputs = inputs,
          .infer = std::move(infer),
          .kernel = std::move(kernel),
          .signature = {"S", {{'S', TypeSet{DataType::String}}}}};
}

}  // namespace
}  // namespace text_operators

void registerStrings(OpRegistry& registry) {
  registry.add(text_operators::texts("RegexFullMatch", 1, text_operators::inferMatch, text_operators::match));
  registry.add(text_operators::texts("StringConcat", 2, text_operators::inferConcat, text_operators::concat));
  OpSchema normalizer =
      text_operators::texts("StringNormalizer", 1, text_operators::inferNormalizer, text_operators::normalize);
  normalizer.extentsDependOnData = true;
  registry.add(std::move(normalizer));
  OpSchema splitter = text_operators::texts("StringSplit", 1, text_operators::inferSplit, text_operators::split);
  splitter.maxOutputs = 2;
  splitter.extentsDependOnData = true;
  registry.add(std::move(splitter));
}

}  // namespace fusescope::ops
