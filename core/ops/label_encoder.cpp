// Values that are looked up by key. Semantics: operator LabelEncoder of ai.onnx.ml, as of its version 2.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

constexpr TypeSet kLabelTypes{DataType::String, DataType::I64, DataType::I32,
                              DataType::I16,    DataType::F32, DataType::F64};

template <class T>
const T* attributeAs(const Node& node, const std::string& key) {
  const auto found = node.attributes.find(key);
  return found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

/// Reads the list under `prefix` ("keys", "values"), of texts, integers or floats, or as a tensor.
Result<Tensor> labels(const Node& node, const std::string& prefix) {
  if (const auto* texts = attributeAs<std::vector<std::string>>(node, prefix + "_strings"))
    return Tensor::ofStrings({std::ssize(*texts)}, *texts);
  if (const auto* integers = attributeAs<Ints>(node, prefix + "_int64s")) return Tensor::ofInt64(*integers);
  if (const auto* floats = attributeAs<std::vector<float>>(node, prefix + "_floats"))
    return Tensor::copyOf<float>(DataType::F32, {std::ssize(*floats)}, *floats);
  if (const auto* tensor = attributeAs<Tensor>(node, prefix + "_tensor"); tensor != nullptr && tensor->hasData())
    return tensor->reshaped({tensor->count()});
  return attributeProblem(prefix + "_tensor", "is missing, and so are the lists that could replace it");
}

/// Returns the result for a key that is not in the list: one element of this type.
Result<Tensor> defaultLabel(const Node& node, DataType type) {
  if (const auto* tensor = attributeAs<Tensor>(node, "default_tensor")) {
    if (tensor->type() == type && tensor->count() == 1 && tensor->hasData()) return *tensor;
    return attributeProblem("default_tensor", fmt::format("must be one element of {}", name(type)));
  }
  if (type == DataType::String) return Tensor::ofStrings({}, {node.textAttribute("default_string", "_Unused")});
  if (isFloat(type)) return Tensor::scalar(node.floatAttribute("default_float", -0.0F)).converted(type);
  return Tensor::ofInt64({node.intAttribute("default_int64", -1)}).converted(type);
}

struct Labels {
  Tensor keys, values, otherwise;
};

Result<Labels> labelsOf(const Node& node) {
  Labels all;
  all.keys = TRY(labels(node, "keys"));
  all.values = TRY(labels(node, "values"));
  if (all.keys.count() != all.values.count())
    return problem(fmt::format("the node has {} keys, but {} values", all.keys.count(), all.values.count()));
  for (const Tensor* tensor : {&all.keys, &all.values})
    if (!kLabelTypes.contains(tensor->type()))
      return problem(fmt::format("labels cannot have type {}", name(tensor->type())));
  all.otherwise = TRY(defaultLabel(node, all.values.type()));
  return all;
}

/// Returns the index of each element of `x` among the keys (the last one of equal keys), or -1 if there is none.
template <class T>
Ints places(std::span<const T> x, std::span<const T> keys) {
  std::map<T, std::int64_t> placeOf;
  std::int64_t placeOfNaN = -1;
  const auto isNaN = [](const T& value) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
    return false;
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    if (isNaN(keys[i]))
      placeOfNaN = place;
    else
      placeOf.insert_or_assign(keys[i], place);
  }
  Ints found;
  for (const T& value : x) {
    const auto at = isNaN(value) ? placeOf.end() : placeOf.find(value);
    found.push_back(isNaN(value) ? placeOfNaN : at == placeOf.end() ? -1 : at->second);
  }
  return found;
}

Ints placesOf(const Tensor& x, const Tensor& keys) {
  if (x.type() == DataType::String) return places<std::string>(x.strings(), keys.strings());
  return dispatchNumber(
      x.type(), [&]<class T>(std::type_identity<T>) { return places<T>(elementsOf<T>(x), elementsOf<T>(keys)); });
}

Result<Types> inferLabelEncoder(const InferContext& context) {
  const Labels labels = TRY(labelsOf(context.node()));
  const TensorType& x = context.input(0);
  if (x.dtype != DataType::Undefined && x.dtype != labels.keys.type())
    return problem(
        fmt::format("the keys have type {}, but the input has type {}", name(labels.keys.type()), name(x.dtype)));
  return one(labels.values.type(), x.shape);
}

Result<Tensors> labelEncoder(const KernelContext& context) {
  const Labels labels = TRY(labelsOf(context.node()));
  const Ints found = placesOf(context.input(0), labels.keys);
  return dispatchStorage(labels.values.type(), [&]<class T>(std::type_identity<T>) -> Result<Tensors> {
    auto builder = TRY(Builder<T>::create(labels.values.type(), context.outputDims(0)));
    for (std::size_t i = 0; i < found.size(); ++i)
      builder.elements()[i] = found[i] < 0 ? elementsOf<T>(labels.otherwise)[0]
                                           : elementsOf<T>(labels.values)[static_cast<std::size_t>(found[i])];
    return Tensors{std::move(builder).finish()};
  });
}

}  // namespace

void registerLabelEncoder(OpRegistry& registry) {
  registry.add({.op = "LabelEncoder",
                .domain = "ai.onnx.ml",
                .kind = OpKind::Other,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferLabelEncoder,
                .kernel = labelEncoder,
                .signature = {"T", {{'T', kLabelTypes}}}});
}

}  // namespace fusescope::ops
