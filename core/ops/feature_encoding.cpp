// Operators that select, join and expand features. Semantics: operators ArrayFeatureExtractor, OneHotEncoder,
// FeatureVectorizer and CategoryMapper of ai.onnx.ml.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "ops/support/class_scores.h"
#include "ops/support/list_attributes.h"

namespace fusescope::ops {
namespace {

Result<Types> inferExtractor(const InferContext& context) {
  const Shape& x = context.input(0).shape;
  const Shape& indices = context.input(1).shape;
  if (!x.ranked) return one(context.input(0).dtype, Shape::unknown());
  if (x.rank() == 0) return problem("input 0 is a scalar, which has no features");
  Shape shape = x.rank() == 1 ? Shape::of(std::vector<Dim>{Dim(1), Dim()}) : x;
  const auto count = indices.ranked ? knownProduct(indices.dims) : std::nullopt;
  shape.dims.back() = count ? Dim(*count) : indices.ranked && indices.rank() == 1 ? indices.dims[0] : Dim();
  return one(context.input(0).dtype, std::move(shape));
}

Result<Tensors> extractFeatures(const KernelContext& context) {
  const Tensor& x = context.input(0);
  const std::int64_t features = x.dims().back();
  const Ints columns = int64Values(context.input(1));
  for (const std::int64_t column : columns)
    if (column < 0 || column >= features)
      return problem(fmt::format("input 1 selects feature {}, but input 0 has {} features", column, features));
  return dispatchStorage(x.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(x.type(), context.outputDims(0)));
    const auto from = elementsOf<T>(x);
    for (std::size_t i = 0; i < builder.elements().size(); ++i) {
      const std::size_t row = i / columns.size();
      const auto column = static_cast<std::size_t>(columns[i % columns.size()]);
      builder.elements()[i] = from[row * static_cast<std::size_t>(features) + column];
    }
    return Tensors{std::move(builder).finish()};
  });
}

/// Returns the number of categories of OneHotEncoder; input and categories must be of one kind.
Result<std::int64_t> categoryCount(const Node& node, DataType type) {
  const auto texts = listAttribute<std::string>(node, "cats_strings");
  const Ints numbers = node.intsAttribute("cats_int64s");
  if (texts.empty() == numbers.empty())
    return attributeProblem("cats_strings", "exactly one of cats_strings and cats_int64s must be given");
  if (type != DataType::Undefined && (type == DataType::String) != numbers.empty())
    return problem(
        fmt::format("the categories are {}, but the input is {}", numbers.empty() ? "texts" : "integers", name(type)));
  return static_cast<std::int64_t>(texts.size() + numbers.size());
}

Result<Types> inferOneHotEncoder(const InferContext& context) {
  const std::int64_t categories = TRY(categoryCount(context.node(), context.input(0).dtype));
  Shape shape = context.input(0).shape;
  if (shape.ranked) shape.dims.emplace_back(categories);
  return one(DataType::F32, std::move(shape));
}

template <class T>
Result<Tensors> spreadOut(const KernelContext& context, std::span<const T> x, const std::vector<T>& categories) {
  const bool takesOthers = context.node().intAttribute("zeros", 1) != 0;
  Tensor result = TRY(allocateOutput(context));
  const auto to = result.mutableData<float>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto found = std::ranges::find(categories, x[i]);
    if (found != categories.end())
      to[i * categories.size() + static_cast<std::size_t>(found - categories.begin())] = 1;
    else if (!takesOthers)
      return problem(fmt::format("element {} is not one of the categories", i),
                     "Set the attribute zeros to 1 to encode such elements as zeros.");
  }
  return Tensors{std::move(result)};
}

Result<Tensors> encodeOneHot(const KernelContext& context) {
  const Tensor& x = context.input(0);
  if (x.type() == DataType::String)
    return spreadOut<std::string>(context, x.strings(), listAttribute<std::string>(context.node(), "cats_strings"));
  const Ints numbers = int64Values(x.converted(DataType::I64));
  return spreadOut<std::int64_t>(context, numbers, context.node().intsAttribute("cats_int64s"));
}

Result<Types> inferVectorizer(const InferContext& context) {
  const Ints widths = context.node().intsAttribute("inputdimensions");
  if (widths.size() != context.inputCount())
    return attributeProblem("inputdimensions", fmt::format("has {} entries, but the node has {} inputs", widths.size(),
                                                           context.inputCount()));
  std::int64_t width = 0;
  for (const std::int64_t own : widths) {
    if (own < 1 || own > (std::int64_t{1} << 40))
      return attributeProblem("inputdimensions",
                              fmt::format("contains {}, expected 1 to {}", own, std::int64_t{1} << 40));
    width += own;
  }
  const Dim rows = TRY(rowCount(context.input(0).shape));
  return one(DataType::F32, Shape::of(std::vector{rows, Dim(width)}));
}

/// Concatenates the rows of all inputs. Each has its own width, to which it is truncated or filled with 0.
Result<Tensors> vectorizeFeatures(const KernelContext& context) {
  const Ints widths = context.node().intsAttribute("inputdimensions");
  Tensor result = TRY(allocateOutput(context));
  const auto to = result.mutableData<float>();
  const auto width = static_cast<std::size_t>(context.outputDims(0)[1]);
  std::size_t offset = 0;
  for (std::size_t input = 0; input < context.inputCount(); ++input) {
    const FeatureRows rows = featureRows(context.input(input));
    if (static_cast<std::int64_t>(rows.rows) != context.outputDims(0)[0])
      return problem(
          fmt::format("input {} has {} rows, but input 0 has {}", input, rows.rows, context.outputDims(0)[0]));
    const auto own = static_cast<std::size_t>(widths[input]);
    for (std::size_t i = 0; i < rows.rows; ++i)
      for (std::size_t f = 0; f < std::min(own, rows.features); ++f)
        to[i * width + offset + f] = static_cast<float>(rows.row(i)[f]);
    offset += own;
  }
  return Tensors{std::move(result)};
}

Status checkCategories(const Node& node) {
  const std::size_t texts = listAttribute<std::string>(node, "cats_strings").size();
  const std::size_t numbers = node.intsAttribute("cats_int64s").size();
  if (texts == numbers) return Done{};
  return problem(fmt::format("cats_strings has {} entries, but cats_int64s has {}", texts, numbers));
}

Result<Types> inferMapper(const InferContext& context) {
  TRY(checkCategories(context.node()));
  const TensorType& x = context.input(0);
  const DataType mapped = x.dtype == DataType::String ? DataType::I64 : DataType::String;
  return one(x.dtype == DataType::Undefined ? x.dtype : mapped, x.shape);
}

Result<Tensors> mapCategories(const KernelContext& context) {
  const Tensor& x = context.input(0);
  const auto texts = listAttribute<std::string>(context.node(), "cats_strings");
  const Ints numbers = context.node().intsAttribute("cats_int64s");
  if (x.type() == DataType::String) {
    Tensor result = TRY(allocateOutput(context));
    for (std::size_t i = 0; i < x.strings().size(); ++i) {
      const auto found = std::ranges::find(texts, x.strings()[i]);
      result.mutableData<std::int64_t>()[i] = found == texts.end()
                                                  ? context.node().intAttribute("default_int64", -1)
                                                  : numbers[static_cast<std::size_t>(found - texts.begin())];
    }
    return Tensors{std::move(result)};
  }
  std::vector<std::string> mapped;
  for (const std::int64_t number : int64Values(x)) {
    const auto found = std::ranges::find(numbers, number);
    mapped.push_back(found == numbers.end() ? context.node().textAttribute("default_string", "_Unused")
                                            : texts[static_cast<std::size_t>(found - numbers.begin())]);
  }
  return Tensors{Tensor::ofStrings(x.dims(), std::move(mapped))};
}

}  // namespace

void registerFeatureEncoding(OpRegistry& registry) {
  constexpr TypeSet kEncoded = kFeatureTypes | TypeSet{DataType::String};
  registry.add({.op = "ArrayFeatureExtractor",
                .domain = "ai.onnx.ml",
                .minInputs = 2,
                .maxInputs = 2,
                .infer = inferExtractor,
                .kernel = extractFeatures,
                .signature = {"TI", {{'T', kEncoded}, {'I', kInt64Type}}}});
  registry.add(featureSchema("OneHotEncoder", inferOneHotEncoder, encodeOneHot, 1, kEncoded));
  registry.add({.op = "FeatureVectorizer",
                .domain = "ai.onnx.ml",
                .minInputs = 1,
                .maxInputs = -1,
                .infer = inferVectorizer,
                .kernel = vectorizeFeatures,
                .signature = {"T", {{'T', kFeatureTypes}}}});
  registry.add(
      featureSchema("CategoryMapper", inferMapper, mapCategories, 1, TypeSet{DataType::I64, DataType::String}));
}

}  // namespace fusescope::ops
