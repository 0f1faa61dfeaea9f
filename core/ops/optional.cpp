// Values that may be absent. Semantics: ONNX operators Optional, OptionalGetElement and OptionalHasElement.
#include <fmt/format.h>

#include "ir/type_text.h"
#include "ops/families.h"
#include "ops/support/containers.h"

namespace fusescope::ops {
namespace {

bool isOptional(Container container) {
  return container == Container::Optional || container == Container::OptionalSequence;
}

/// Returns the type of an optional that may contain a value of this type.
Result<TensorType> optionalOf(const TensorType& element) {
  TensorType type = element;
  if (isOptional(type.container)) return problem(fmt::format("an optional cannot contain {}", element.text()));
  if (type.container == Container::Sequence)
    type.container = Container::OptionalSequence;
  else if (!isUnknown(type))
    type.container = Container::Optional;
  return type;
}

/// If the input is absent, the attribute `type` says what the optional may contain.
Result<Types> inferOptional(const InferContext& context) {
  if (context.hasInput(0)) return Types{TRY(optionalOf(context.input(0)))};
  const std::string text = context.node().textAttribute("type", "");
  if (text.empty()) return attributeProblem("type", "is missing, and no input defines the type of the element");
  const auto element = parseType(text);
  if (!element.ok()) return attributeProblem("type", element.error().message);
  return Types{TRY(optionalOf(element.value()))};
}

Result<Tensors> makeOptional(const KernelContext& context) {
  if (!context.hasInput(0)) return Tensors{Tensor::ofElements(context.output(0).container, context.outputType(0), {})};
  const Tensor& element = context.input(0);
  const Container container =
      element.container() == Container::Sequence ? Container::OptionalSequence : Container::Optional;
  return Tensors{Tensor::ofElements(container, element.type(), {element})};
}

/// Since opset 18, a value that is not an optional is returned unchanged.
Result<Types> inferGetElement(const InferContext& context) {
  const TensorType& type = context.input(0);
  return Types{isOptional(type.container) ? elementOf(type) : type};
}

Result<Tensors> getElement(const KernelContext& context) {
  const Tensor& input = context.input(0);
  if (!isOptional(input.container())) return Tensors{input};
  if (input.elements().empty())
    return problem("the optional is empty", "Use OptionalHasElement to find out whether there is an element.");
  return Tensors{input.elements()[0]};
}

Result<Types> inferHasElement(const InferContext&) {
  return one(DataType::Bool, Shape::of(Dims{}));
}

Result<Tensors> hasElement(const KernelContext& context) {
  const bool has =
      context.hasInput(0) && (!isOptional(context.input(0).container()) || !context.input(0).elements().empty());
  return Tensors{Tensor::ofInt64({has ? 1 : 0}).reshaped({}).converted(DataType::Bool)};
}

}  // namespace

void registerOptional(OpRegistry& registry) {
  registry.add(containerSchema("Optional", 0, 1, inferOptional, makeOptional));
  registry.add(containerSchema("OptionalGetElement", 1, 1, inferGetElement, getElement));
  OpSchema question = containerSchema("OptionalHasElement", 0, 1, inferHasElement, hasElement);
  question.extentsDependOnData = false;
  registry.add(std::move(question));
}

}  // namespace fusescope::ops
