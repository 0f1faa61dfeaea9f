#include "engine/kernels/input_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/name_hints.h"
#include "base/text.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

Diagnostic wrongInput(const std::string& input, std::string message, std::string help = {}) {
  return {.message = std::move(message), .where = {.value = input}, .help = std::move(help)};
}

std::vector<std::string> inputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId input : graph.inputs()) names.push_back(graph.value(input).name);
  return names;
}

template <class T>
Status checkNames(const Graph& graph, const std::map<std::string, T>& given) {
  const std::vector<std::string> names = inputNames(graph);
  for (const auto& [name, ignored] : given) {
    if (std::ranges::find(names, name) != names.end()) continue;
    return wrongInput(name, "is not an input of this network", "Its inputs are " + listed(names) + ".");
  }
  return Done{};
}

const InputSpec* specOf(const Plan& plan, const std::string& input) {
  const auto found = std::ranges::find(plan.inputSpecs, input, &InputSpec::name);
  return found == plan.inputSpecs.end() ? nullptr : &*found;
}

std::string allowedText(const InputSpec& spec) {
  return spec.fixed() ? toText(spec.min) : "from " + toText(spec.min) + " to " + toText(spec.max);
}

/// A bound below zero is unknown and limits nothing.
bool within(const Dims& dims, const InputSpec& spec) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i < spec.min.size() && spec.min[i] >= 0 && dims[i] < spec.min[i]) return false;
    if (i < spec.max.size() && spec.max[i] >= 0 && dims[i] > spec.max[i]) return false;
  }
  return true;
}

/// Returns the shape that the file declares. The plan's own types are only valid under its conditions, which are
/// checked separately.
const Shape& declaredShape(const Plan& plan, const Value& input) {
  const std::vector<ValueId>& inputs = plan.graph().inputs();
  const auto at = static_cast<std::size_t>(std::ranges::find(inputs, input.id) - inputs.begin());
  const std::vector<TensorType>& declared = plan.model->declaredInputs;
  return at < declared.size() ? declared[at].shape : input.type.shape;
}

Status checkExtents(const Plan& plan, const Value& input, const Dims& dims) {
  const Shape& shape = declaredShape(plan, input);
  if (shape.ranked && shape.rank() != dims.size())
    return wrongInput(input.name, "has extents " + toText(dims) + ", but " + std::to_string(shape.rank()) +
                                      " dimensions are expected: " + input.type.text());
  for (std::size_t i = 0; shape.ranked && i < dims.size(); ++i)
    if (shape.dims[i].known() && shape.dims[i].size != dims[i])
      return wrongInput(input.name, "has extents " + toText(dims) + ", expected " + input.type.text());
  const InputSpec* spec = specOf(plan, input.name);
  // Assumed extents refuse nothing, because the engine prepares for the extents that it is given.
  if (spec == nullptr || spec->source == "assumed" || within(dims, *spec)) return Done{};
  return wrongInput(input.name, "has extents " + toText(dims) + ", allowed is " + allowedText(*spec),
                    "Give --input, --min, --opt or --max with other extents to plan for them.");
}

/// Returns an error for the first value of an int64 tensor that int32 cannot represent.
Status checkTruncated(const Plan& plan, const Value& input, const Tensor& tensor) {
  const auto truncated = std::ranges::find(plan.truncation.inputs, input.id, &TruncatedValue::value);
  if (truncated == plan.truncation.inputs.end() || truncated->from != DataType::I64 || truncated->to != DataType::I32)
    return Done{};
  for (const std::int64_t value : tensor.data<std::int64_t>()) {
    if (value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max())
      continue;
    return wrongInput(
        input.name, "holds " + std::to_string(value) + ", which int32 cannot represent; the plan truncates it to int32",
        "Use --truncate none to keep int64.");
  }
  return Done{};
}

/// Checks the elements of a container. A container has no extents; the operators check those of its tensors.
Status checkElements(const Value& input, const Tensor& container) {
  for (const Tensor& element : container.elements()) {
    if (element.container() != Container::None) {
      TRY(checkElements(input, element));
    } else if (element.type() != input.type.dtype) {
      return wrongInput(input.name, "contains " + typeOf(element).text() + ", expected " + input.type.text());
    } else if (!element.hasData()) {
      return wrongInput(input.name, "holds a tensor without data");
    }
  }
  return Done{};
}

Status checkTensor(const Plan& plan, const Value& input, const Tensor& tensor) {
  if (tensor.container() != input.type.container)
    return wrongInput(input.name, "is " + typeOf(tensor).text() + ", expected " + input.type.text());
  if (tensor.container() != Container::None) return checkElements(input, tensor);
  if (input.type.dtype == DataType::Undefined)
    return wrongInput(input.name, "the file does not say what type it has",
                      "Give --input " + input.name + "=DIMS:" + std::string(name(tensor.type())) + ".");
  if (tensor.type() != input.type.dtype)
    return wrongInput(input.name,
                      "is " + std::string(name(tensor.type())) + ", expected " + std::string(name(input.type.dtype)));
  if (!tensor.hasData()) return wrongInput(input.name, "has no data");
  TRY(checkExtents(plan, input, tensor.dims()));
  return checkTruncated(plan, input, tensor);
}

void countNotFinite(const Tensor& tensor, NotFiniteInput& into) {
  for (const Tensor& element : tensor.elements()) countNotFinite(element, into);
  if (notFiniteIn(tensor) == 0) return;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const double element = tensor.asDouble(i);
    into.nan += std::isnan(element) ? 1 : 0;
    into.infinite += std::isinf(element) ? 1 : 0;
  }
}

std::string inWords(const NotFiniteInput& input) {
  std::string text = "input '" + input.input + "'";
  if (!input.sample.empty()) text += " of sample '" + input.sample + "'";
  text += " holds ";
  if (input.nan > 0) text += std::to_string(input.nan) + " NaN";
  if (input.infinite == 0) return text;
  if (input.nan > 0) text += " and ";
  return text + std::to_string(input.infinite) + (input.infinite == 1 ? " infinity" : " infinities");
}

}  // namespace

std::vector<NotFiniteInput> notFiniteInputs(const std::map<std::string, Tensor>& inputs, const std::string& sample) {
  std::vector<NotFiniteInput> found;
  for (const auto& [name, tensor] : inputs) {
    NotFiniteInput input{.sample = sample, .input = name};
    countNotFinite(tensor, input);
    if (input.nan + input.infinite > 0) found.push_back(std::move(input));
  }
  return found;
}

std::string inWords(const std::vector<NotFiniteInput>& inputs) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> parts;
  for (const NotFiniteInput& input : inputs)
    if (parts.size() < kMost) parts.push_back(inWords(input));
  std::string text = joined(parts);
  if (inputs.size() > kMost) text += " and " + std::to_string(inputs.size() - kMost) + " more inputs contain some";
  return text;
}

std::vector<std::string> sampleNames(const std::vector<std::string>& names, std::size_t samples) {
  if (samples < 2) return std::vector<std::string>(samples);
  if (names.size() == samples) return names;
  std::vector<std::string> numbered;
  for (std::size_t i = 1; i <= samples; ++i) numbered.push_back(std::to_string(i) + " of " + std::to_string(samples));
  return numbered;
}

Diagnostic onSample(Diagnostic error, const std::string& name) {
  if (!name.empty() && !error.cancelled) error.message = "on sample " + name + ": " + error.message;
  return error;
}

Result<std::map<std::string, Dims>> checkInputs(const Plan& plan, const std::map<std::string, Tensor>& inputs) {
  const Graph& graph = plan.graph();
  TRY(checkNames(graph, inputs));
  std::map<std::string, Dims> extents;
  for (const ValueId id : graph.inputs()) {
    const Value& input = graph.value(id);
    const auto given = inputs.find(input.name);
    if (given == inputs.end()) return wrongInput(input.name, "is missing: it is an input of type " + input.type.text());
    TRY(checkTensor(plan, input, given->second));
    if (input.type.container == Container::None) extents[input.name] = given->second.dims();
  }
  return extents;
}

Result<std::map<std::string, Dims>> buildExtents(const Plan& plan, const std::map<std::string, Dims>& given) {
  const Graph& graph = plan.graph();
  TRY(checkNames(graph, given));
  std::map<std::string, Dims> extents;
  for (const ValueId id : graph.inputs()) {
    const Value& input = graph.value(id);
    if (input.type.container != Container::None) continue;
    Dims dims;
    if (const auto asked = given.find(input.name); asked != given.end()) {
      dims = asked->second;
    } else if (const InputSpec* spec = specOf(plan, input.name); spec != nullptr) {
      dims = spec->opt;
    } else if (const auto fixed = input.type.shape.fixed()) {
      dims = *fixed;
    }
    if (std::ranges::any_of(dims, [](std::int64_t extent) { return extent < 0; }))
      return wrongInput(input.name, "has extents that are not known: " + toText(dims),
                        "Give --input " + input.name + "=DIMS.");
    TRY(checkExtents(plan, input, dims));
    extents[input.name] = dims;
  }
  return extents;
}

}  // namespace fusescope
