// Operators that scale features. Semantics: operators Scaler, Normalizer, Imputer and Binarizer of ai.onnx.ml. A row
// whose norm is 0 is unchanged, and the norm MAX is the largest element, not the largest magnitude, as in ONNX Runtime.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/support/class_scores.h"
#include "ops/support/list_attributes.h"

namespace fusescope::ops {
namespace {

/// Returns the entry of element `i` in a list with one entry per feature or one for all.
template <class T>
T entryOf(const std::vector<T>& list, std::size_t i, std::size_t features) {
  return list.size() == 1 ? list[0] : list[i % features];
}

Status requireEntryForEach(const std::string& attribute, std::size_t entries, const Shape& shape) {
  if (entries == 0) return attributeProblem(attribute, "is missing or empty");
  if (!shape.ranked || shape.rank() == 0 || !shape.dims.back().known() || entries == 1) return Done{};
  const std::int64_t features = shape.dims.back().size;
  if (static_cast<std::int64_t>(entries) == features) return Done{};
  return attributeProblem(attribute, fmt::format("has {} entries, but the input has {} features", entries, features));
}

Result<Types> inferScaler(const InferContext& context) {
  const Shape& shape = context.input(0).shape;
  for (const std::string key : {"offset", "scale"})
    TRY(requireEntryForEach(key, listAttribute<float>(context.node(), key).size(), shape));
  return one(DataType::F32, shape);
}

Result<Tensors> scale(const KernelContext& context) {
  const auto offsets = listAttribute<float>(context.node(), "offset");
  const auto scales = listAttribute<float>(context.node(), "scale");
  const FeatureRows rows = featureRows(context.input(0));
  Tensor result = TRY(allocateOutput(context));
  const auto to = result.mutableData<float>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto x = static_cast<float>(rows.values[i]);
    to[i] = (x - entryOf(offsets, i, rows.features)) * entryOf(scales, i, rows.features);
  }
  return Tensors{std::move(result)};
}

Result<Types> inferNormalizer(const InferContext& context) {
  TRY(choiceAttribute(context.node(), "norm", "MAX", {"MAX", "L1", "L2"}));
  TRY(rowCount(context.input(0).shape));
  return one(DataType::F32, context.input(0).shape);
}

double normOf(std::span<const double> row, const std::string& norm) {
  double sum = 0;
  for (const double x : row) sum += norm == "L1" ? std::abs(x) : x * x;
  if (norm == "MAX") return row.empty() ? 0 : std::ranges::max(row);
  return norm == "L1" ? sum : std::sqrt(sum);
}

Result<Tensors> normalize(const KernelContext& context) {
  const std::string norm = context.node().textAttribute("norm", "MAX");
  const FeatureRows rows = featureRows(context.input(0));
  Tensor result = TRY(allocateOutput(context));
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const auto row = rows.row(i);
    const double size = normOf(row, norm);
    const auto to = result.mutableData<float>().subspan(i * rows.features, rows.features);
    for (std::size_t f = 0; f < row.size(); ++f) to[f] = static_cast<float>(size == 0 ? row[f] : row[f] / size);
  }
  return Tensors{std::move(result)};
}

/// Returns the replacements of missing values: floats or integers, like the features.
std::vector<double> imputed(const Node& node, DataType type) {
  if (isFloat(type)) {
    const auto floats = listAttribute<float>(node, "imputed_value_floats");
    return {floats.begin(), floats.end()};
  }
  const Ints integers = node.intsAttribute("imputed_value_int64s");
  return {integers.begin(), integers.end()};
}

Result<Types> inferImputer(const InferContext& context) {
  const TensorType& x = context.input(0);
  const std::string key = isFloat(x.dtype) ? "imputed_value_floats" : "imputed_value_int64s";
  if (x.dtype != DataType::Undefined) TRY(requireEntryForEach(key, imputed(context.node(), x.dtype).size(), x.shape));
  return inferLikeFirst(context);
}

Result<Tensors> impute(const KernelContext& context) {
  const Tensor& x = context.input(0);
  const std::vector<double> values = imputed(context.node(), x.type());
  const double missing = isFloat(x.type())
                             ? static_cast<double>(context.node().floatAttribute("replaced_value_float", 0))
                             : static_cast<double>(context.node().intAttribute("replaced_value_int64", 0));
  const auto features = static_cast<std::size_t>(x.dims().empty() ? 1 : x.dims().back());
  Tensor result = TRY(allocateOutput(context));
  return dispatchNumber(x.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    const auto from = x.data<T>();
    const auto to = result.mutableData<T>();
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto value = static_cast<double>(from[i]);
      const bool isMissing = value == missing || (std::isnan(value) && std::isnan(missing));
      to[i] = isMissing ? static_cast<T>(entryOf(values, i, features)) : from[i];
    }
    return Tensors{std::move(result)};
  });
}

Result<Tensors> binarize(const KernelContext& context) {
  const auto threshold = static_cast<double>(context.node().floatAttribute("threshold", 0));
  Tensor result = TRY(allocateOutput(context));
  return dispatchNumber(context.input(0).type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    const auto from = context.input(0).data<T>();
    const auto to = result.mutableData<T>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<double>(from[i]) > threshold ? T{1} : T{0};
    return Tensors{std::move(result)};
  });
}

}  // namespace

void registerFeatureScaling(OpRegistry& registry) {
  registry.add(featureSchema("Scaler", inferScaler, scale));
  registry.add(featureSchema("Imputer", inferImputer, impute));
  registry.add(featureSchema("Binarizer", inferLikeFirst, binarize));
  registry.add(featureSchema("Normalizer", inferNormalizer, normalize));
}

}  // namespace fusescope::ops
