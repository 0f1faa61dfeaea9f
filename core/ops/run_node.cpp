#include "ops/run_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <exception>
#include <map>
#include <new>
#include <string>

#include "ops/no_kernel.h"
#include "ops/support/infer_support.h"

namespace fusescope {
namespace {

using ops::problem;

Diagnostic locatedAt(Diagnostic error, const Node& node) {
  if (error.where.node.empty()) error.where.node = node.name;
  return error;
}

Status checkArity(const OpSchema& schema, const Node& node, std::span<const TensorType* const> inputs) {
  const int count = static_cast<int>(inputs.size());
  const auto wanted = schema.maxInputs < 0 ? fmt::format("at least {}", schema.minInputs)
                      : schema.minInputs == schema.maxInputs
                          ? std::to_string(schema.minInputs)
                          : fmt::format("{} to {}", schema.minInputs, schema.maxInputs);
  if (count < schema.minInputs || (schema.maxInputs >= 0 && count > schema.maxInputs))
    return problem(fmt::format("{} takes {} inputs, but the node has {}", schema.op, wanted, count));
  for (int i = 0; i < (schema.maxInputs < 0 ? count : schema.minInputs); ++i)
    if (inputs[static_cast<std::size_t>(i)] == nullptr)
      return problem(fmt::format("input {} of {} is missing", i, schema.op));
  if (schema.maxOutputs >= 0 && static_cast<int>(node.outputs.size()) > schema.maxOutputs)
    return problem(fmt::format("{} has at most {} outputs, but the node has {}", schema.op, schema.maxOutputs,
                               node.outputs.size()));
  return Done{};
}

Status checkContainers(const OpSchema& schema, std::span<const TensorType* const> inputs) {
  for (std::size_t i = 0; i < inputs.size() && !schema.takesContainers; ++i)
    if (inputs[i] != nullptr && inputs[i]->container != Container::None)
      return problem(fmt::format("input {} of {} is {}, expected a tensor", i, schema.op, inputs[i]->text()));
  return Done{};
}

Status checkTypes(const OpSchema& schema, std::span<const TensorType* const> inputs) {
  TRY(checkContainers(schema, inputs));
  const std::string& letters = schema.signature.inputs;
  std::map<char, std::pair<std::size_t, DataType>> seen;
  for (std::size_t i = 0; i < inputs.size() && !letters.empty(); ++i) {
    if (inputs[i] == nullptr || inputs[i]->dtype == DataType::Undefined) continue;
    const char letter = letters[std::min(i, letters.size() - 1)];
    const DataType type = inputs[i]->dtype;
    for (const auto& [which, allowed] : schema.signature.letters)
      if (which == letter && !allowed.contains(type))
        return problem(
            fmt::format("input {} of {} is {}, expected one of {}", i, schema.op, name(type), allowed.text()));
    const auto [first, isFirst] = seen.try_emplace(letter, i, type);
    if (!isFirst && first->second.second != type)
      return problem(fmt::format("inputs {} and {} of {} must have the same type, but are {} and {}",
                                 first->second.first, i, schema.op, name(first->second.second), name(type)),
                     "Insert a Cast before the node.");
  }
  return Done{};
}

Status checkExtents(const OpSchema& schema, const std::vector<TensorType>& outputs) {
  for (const TensorType& output : outputs) {
    const auto dims = output.shape.fixed();
    if (dims && !elementCount(*dims))
      return problem(
          fmt::format("the result of {} would have extents {}, which is too large", schema.op, toText(*dims)));
  }
  return Done{};
}

Result<std::vector<TensorType>> inferWith(const OpSchema& schema, const Node& node,
                                          std::span<const TensorType* const> inputs,
                                          std::span<const Tensor* const> constants,
                                          std::vector<ExtentDemand>* demands = nullptr) {
  const InferContext context(node, inputs, constants, demands);
  TRY(checkArity(schema, node, context.inputs()));
  if (schema.domain.empty()) TRY(ops::checkAttributeKinds(node));
  TRY(checkTypes(schema, context.inputs()));
  std::vector<TensorType> outputs = TRY(schema.infer(context));
  TRY(checkExtents(schema, outputs));
  outputs.resize(std::max<std::size_t>(node.outputs.size(), 1));
  return outputs;
}

/// When types are inferred in order to run a node, its bodies are run too, so that their values are not computed twice.
std::vector<const Tensor*> withoutCapturedValues(const Node& node, std::span<const Tensor* const> operands) {
  std::vector<const Tensor*> values(operands.begin(), operands.end());
  std::ranges::fill(std::span(values).last(std::min(values.size(), captureCount(node))), nullptr);
  return values;
}

Result<std::vector<Tensor>> runWith(const OpSchema& schema, const Node& node, std::span<const Tensor* const> inputs,
                                    const StopToken& stop) {
  std::vector<TensorType> held(inputs.size());
  std::vector<const TensorType*> types(inputs.size(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    if (!inputs[i]->hasData()) return problem(fmt::format("input {} has no data", i));
    held[i] = typeOf(*inputs[i]);
    types[i] = &held[i];
  }
  const std::vector<TensorType> outputs = TRY(inferWith(schema, node, types, withoutCapturedValues(node, inputs)));
  const auto isPlain = [&](std::size_t i) {
    return !schema.extentsDependOnData && outputs[i].container == Container::None;
  };
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (isPlain(i) && !outputs[i].shape.fixed())
      return problem(fmt::format("the extents of output {} cannot be inferred", i));
  std::vector<Tensor> results = TRY(schema.kernel(KernelContext(node, inputs, outputs, stop)));
  results.resize(outputs.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    assert(!isPlain(i) || (results[i].type() == outputs[i].dtype && results[i].dims() == outputs[i].shape.fixed()));
  return results;
}

/// Returns the result of `call`, whose errors are located at the node. Running out of memory is an error as well.
template <class T, class Call>
Result<T> guarded(const Node& node, Call call) {
  try {
    Result<T> result = call();
    if (!result.ok()) return locatedAt(std::move(result).error(), node);
    return result;
  } catch (const std::bad_alloc&) {
    return locatedAt(problem(fmt::format("{} needs more memory than is available", node.op)), node);
  } catch (const std::length_error&) {
    return locatedAt(problem(fmt::format("{} needs more memory than is available", node.op)), node);
  }
}

}  // namespace

Result<std::vector<TensorType>> inferNode(const Node& node, std::span<const TensorType* const> inputs,
                                          std::span<const Tensor* const> constants,
                                          std::vector<ExtentDemand>* demands) {
  const OpSchema* schema = OpRegistry::standard().find(node);
  if (schema == nullptr || !schema->infer)
    return std::vector<TensorType>(std::max<std::size_t>(node.outputs.size(), 1));
  return guarded<std::vector<TensorType>>(node, [&] { return inferWith(*schema, node, inputs, constants, demands); });
}

Result<std::vector<Tensor>> runNode(const Node& node, std::span<const Tensor* const> inputs, const StopToken& stop) {
  const OpSchema* schema = OpRegistry::standard().find(node);
  if (schema == nullptr || !schema->kernel) {
    auto [why, help] = whyNoKernel(node);
    return locatedAt({.message = std::move(why), .help = std::move(help)}, node);
  }
  return guarded<std::vector<Tensor>>(node, [&] { return runWith(*schema, node, inputs, stop); });
}

std::int64_t flopsOf(const Node& node, std::span<const Dims> inputs, std::span<const Dims> outputs) {
  const OpSchema* schema = OpRegistry::standard().find(node);
  if (schema == nullptr) return 0;
  if (schema->flops) return schema->flops(node, inputs, outputs);
  switch (schema->kind) {
    case OpKind::View:
    case OpKind::Movement:
    case OpKind::Shape:
    case OpKind::ControlFlow:
      return 0;
    default:
      return outputs.empty() ? 0 : elementCount(outputs[0]).value_or(0);
  }
}

}  // namespace fusescope
