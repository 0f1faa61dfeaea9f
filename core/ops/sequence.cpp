// Sequences of tensors: made, changed, read and mapped.
// Semantics: ONNX operators Sequence…, SplitToSequence and ConcatFromSequence.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "ops/support/body_types.h"
#include "ops/support/containers.h"
#include "ops/support/graph_evaluator.h"
#include "ops/support/joining.h"

namespace fusescope::ops {
namespace {

Tensor sequence(DataType type, Tensors elements) {
  return Tensor::ofElements(Container::Sequence, type, std::move(elements));
}

Status requirePosition(const InferContext& context, std::size_t i) {
  if (!context.hasInput(i) || isUnknown(context.input(i))) return Done{};
  TRY(requireTensor(context, i));
  if (kIndexTypes.contains(context.input(i).dtype)) return Done{};
  return problem(fmt::format("input {} is {}, expected an int32 or int64", i, context.input(i).text()));
}

// --- making one

Result<Types> inferEmpty(const InferContext& context) {
  const DataType type = TRY(typeAttribute(context.node(), "dtype", DataType::F32));
  return Types{sequenceOf({.dtype = type, .shape = Shape::unknown()})};
}

Result<Tensors> makeEmpty(const KernelContext& context) {
  return Tensors{sequence(context.outputType(0), {})};
}

Result<Types> inferConstruct(const InferContext& context) {
  TensorType element = context.input(0);
  for (std::size_t i = 0; i < context.inputCount(); ++i) {
    TRY(requireTensor(context, i));
    const TensorType& type = context.input(i);
    if (!isUnknown(element) && !isUnknown(type) && element.dtype != type.dtype)
      return problem(fmt::format("the elements of a sequence must have the same type, but are {} and {}",
                                 name(element.dtype), name(type.dtype)));
    element = joined(element, type);
  }
  return Types{sequenceOf(element)};
}

Result<Tensors> construct(const KernelContext& context) {
  Tensors elements;
  for (std::size_t i = 0; i < context.inputCount(); ++i) elements.push_back(context.input(i));
  return Tensors{sequence(context.input(0).type(), std::move(elements))};
}

// --- changing and reading

Result<Types> inferInsert(const InferContext& context) {
  TRY(requireSequence(context, 0));
  TRY(requireTensor(context, 1));
  TRY(requirePosition(context, 2));
  const TensorType &list = context.input(0), &element = context.input(1);
  if (isUnknown(list)) return Types{sequenceOf({.dtype = element.dtype, .shape = Shape::unknown()})};
  if (isUnknown(element)) return Types{{list.dtype, Shape::unknown(), Container::Sequence}};
  if (list.dtype != element.dtype)
    return problem(fmt::format("a tensor of type {} cannot be inserted into {}", name(element.dtype), list.text()));
  return Types{sequenceOf(joined(elementOf(list), element))};
}

Result<Tensors> insert(const KernelContext& context) {
  Tensors elements = context.input(0).elements();
  std::size_t place = elements.size();
  if (context.hasInput(2)) {
    // The position after the last element is allowed too, but only counted from the front.
    const bool atEnd = context.input(2).count() == 1 && context.input(2).asInt64(0) == std::ssize(elements);
    place = atEnd ? elements.size() : TRY(placeAt(context.input(2), elements.size()));
  }
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(place), context.input(1));
  return Tensors{sequence(context.input(1).type(), std::move(elements))};
}

Result<Types> inferErase(const InferContext& context) {
  TRY(requireSequence(context, 0));
  TRY(requirePosition(context, 1));
  return inferLikeFirst(context);
}

Result<Tensors> erase(const KernelContext& context) {
  Tensors elements = context.input(0).elements();
  if (elements.empty()) return problem("the sequence is empty, so no element can be erased");
  const std::size_t place = context.hasInput(1) ? TRY(placeAt(context.input(1), elements.size())) : elements.size() - 1;
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(place));
  return Tensors{sequence(context.input(0).type(), std::move(elements))};
}

Result<Types> inferAt(const InferContext& context) {
  TRY(requireSequence(context, 0));
  TRY(requirePosition(context, 1));
  return Types{elementOf(context.input(0))};
}

Result<Tensors> at(const KernelContext& context) {
  const Tensors& elements = context.input(0).elements();
  return Tensors{elements[TRY(placeAt(context.input(1), elements.size()))]};
}

Result<Types> inferLength(const InferContext& context) {
  TRY(requireSequence(context, 0));
  return one(DataType::I64, Shape::of(Dims{}));
}

Result<Tensors> length(const KernelContext& context) {
  return Tensors{Tensor::ofInt64({context.input(0).count()}).reshaped({})};
}

// --- to and from one tensor

/// Returns whether the parts lose the axis, which happens only if they have the default extent 1.
bool losesAxis(const Node& node, bool hasSplit) {
  return !hasSplit && node.intAttribute("keepdims", 1) == 0;
}

Result<Types> inferSplitTo(const InferContext& context) {
  TRY(requireTensor(context, 0));
  TRY(requirePosition(context, 1));
  TensorType element = context.input(0);
  if (!element.shape.ranked) return Types{sequenceOf(element)};
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), element.shape.rank()));
  if (losesAxis(context.node(), context.hasInput(1)))
    element.shape.dims.erase(element.shape.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  else
    element.shape.dims[axis] = context.hasInput(1) ? Dim() : Dim(1);
  return Types{sequenceOf(element)};
}

/// Returns the extents of the parts of an axis of extent `whole`.
Result<Ints> partExtents(const KernelContext& context, std::int64_t whole) {
  if (!context.hasInput(1)) return Ints(static_cast<std::size_t>(whole), 1);
  const Tensor& split = context.input(1);
  Ints extents;
  if (split.dims().empty()) {
    const std::int64_t most = split.asInt64(0);
    if (most < 1) return problem(fmt::format("'split' is {}, expected at least 1", most));
    for (std::int64_t from = 0; from < whole; from += most) extents.push_back(std::min(most, whole - from));
    return extents;
  }
  extents = int64Values(split);
  std::int64_t sum = 0;
  for (const std::int64_t extent : extents)
    if (extent < 0 || __builtin_add_overflow(sum, extent, &sum))
      return problem(fmt::format("'split' contains {}, which is not a valid extent", extent));
  if (sum != whole)
    return problem(fmt::format("the extents of the parts sum to {}, but the axis has extent {}", sum, whole));
  return extents;
}

Result<Tensors> splitTo(const KernelContext& context) {
  const Tensor& whole = context.input(0);
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), whole.dims().size()));
  const bool loses = losesAxis(context.node(), context.hasInput(1));
  Tensors parts;
  std::int64_t from = 0;
  for (const std::int64_t extent : TRY(partExtents(context, whole.dims()[axis]))) {
    parts.push_back(loses ? TRY(placeOf(whole, axis, from)) : TRY(sliceOf(whole, axis, from, extent)));
    from += extent;
  }
  return Tensors{sequence(whole.type(), std::move(parts))};
}

Result<Types> inferConcatFrom(const InferContext& context) {
  TRY(requireSequence(context, 0));
  if (!context.node().hasAttribute("axis")) return attributeProblem("axis", "is missing");
  TensorType type = elementOf(context.input(0));
  if (!type.shape.ranked) return Types{type};
  const bool isNew = context.node().intAttribute("new_axis", 0) != 0;
  const std::size_t rank = type.shape.rank() + (isNew ? 1 : 0);
  const std::size_t axis = TRY(normalizedAxis(context.node().intAttribute("axis", 0), rank));
  if (isNew)
    type.shape.dims.insert(type.shape.dims.begin() + static_cast<std::ptrdiff_t>(axis), Dim());
  else
    type.shape.dims[axis] = Dim();
  return Types{type};
}

Result<Tensors> concatFrom(const KernelContext& context) {
  const Tensors& parts = context.input(0).elements();
  if (parts.empty()) return problem("an empty sequence cannot be concatenated");
  const std::int64_t axis = context.node().intAttribute("axis", 0);
  const bool isNew = context.node().intAttribute("new_axis", 0) != 0;
  return Tensors{isNew ? TRY(stacked(parts, axis)) : TRY(concatenated(parts, axis))};
}

// --- SequenceMap

/// From sequences, the body gets elements; from tensors, it gets the tensors themselves.
Result<Types> mapBodyInputs(const InferContext& context, const std::string&) {
  TRY(requireSequence(context, 0));
  Types types;
  for (std::size_t i = 0; i < context.inputCount(); ++i) {
    const TensorType& type = context.input(i);
    types.push_back(type.container == Container::Sequence ? elementOf(type) : type);
  }
  return types;
}

Result<Types> inferMap(const InferContext& context) {
  const Subgraph body = TRY(bodyOf(context.node(), "body"));
  if (context.node().outputs.size() > body.graph->outputs().size())
    return problem(fmt::format("the body produces {} outputs, but the node has {}", body.graph->outputs().size(),
                               context.node().outputs.size()));
  const TypeFlow flow = TRY(inferBody(context, "body", {.types = TRY(mapBodyInputs(context, "body"))}));
  Types types;
  for (const TensorType& element : outputTypes(context, *body.graph, flow)) types.push_back(sequenceOf(element));
  return types;
}

Result<Tensors> map(const KernelContext& context) {
  const std::size_t count = context.input(0).elements().size();
  for (std::size_t i = 1; i < context.inputCount(); ++i)
    if (context.input(i).container() == Container::Sequence && context.input(i).elements().size() != count)
      return problem(fmt::format("the sequences have {} and {} elements", count, context.input(i).elements().size()));
  const Subgraph body = TRY(bodyOf(context.node(), "body"));
  const GraphEvaluator evaluator(*body.graph);
  const auto captures = context.captures("body");
  std::vector<Tensors> made(context.outputCount());
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<const Tensor*> inputs;
    for (std::size_t i = 0; i < context.inputCount(); ++i) {
      const Tensor& input = context.input(i);
      inputs.push_back(input.container() == Container::Sequence ? &input.elements()[k] : &input);
    }
    inputs.insert(inputs.end(), captures.begin(), captures.end());
    Tensors outputs = TRY(evaluator.run(inputs, context.stop()));
    for (std::size_t i = 0; i < made.size(); ++i) made[i].push_back(std::move(outputs[i]));
  }
  Tensors results;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const DataType type = made[i].empty() ? context.outputType(i) : made[i][0].type();
    results.push_back(sequence(type, std::move(made[i])));
  }
  return results;
}

}  // namespace

void registerSequence(OpRegistry& registry) {
  registry.add(containerSchema("ConcatFromSequence", 1, 1, inferConcatFrom, concatFrom));
  registry.add(containerSchema("SequenceAt", 2, 2, inferAt, at));
  registry.add(containerSchema("SequenceConstruct", 1, -1, inferConstruct, construct));
  registry.add(containerSchema("SequenceEmpty", 0, 0, inferEmpty, makeEmpty));
  registry.add(containerSchema("SequenceErase", 1, 2, inferErase, erase));
  registry.add(containerSchema("SequenceInsert", 2, 3, inferInsert, insert));
  OpSchema lengthSchema = containerSchema("SequenceLength", 1, 1, inferLength, length);
  lengthSchema.extentsDependOnData = false;
  registry.add(std::move(lengthSchema));
  registry.add(containerSchema("SplitToSequence", 1, 2, inferSplitTo, splitTo));
  OpSchema mapping = containerSchema("SequenceMap", 1, -1, inferMap, map);
  mapping.kind = OpKind::ControlFlow;
  mapping.maxOutputs = -1;
  mapping.bodyInputs = mapBodyInputs;
  registry.add(std::move(mapping));
}

}  // namespace fusescope::ops
