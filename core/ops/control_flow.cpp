// If and Loop: graphs run by a node.
// Semantics: ONNX operators If and Loop.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "ops/support/body_types.h"
#include "ops/support/graph_evaluator.h"
#include "ops/support/joining.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
namespace {

Result<bool> flagOf(const Tensor& tensor, std::string_view what) {
  if (tensor.container() != Container::None || tensor.type() != DataType::Bool || tensor.count() != 1)
    return problem(fmt::format("{} must be a single bool, but is {}", what, typeOf(tensor).text()));
  return tensor.asInt64(0) != 0;
}

/// Returns the input's value if it is known and a single bool.
std::optional<bool> knownFlag(const Tensor* tensor) {
  if (tensor == nullptr || tensor->type() != DataType::Bool || tensor->count() != 1) return std::nullopt;
  return tensor->asInt64(0) != 0;
}

Status requireType(const InferContext& context, std::size_t input, DataType type) {
  if (!context.hasInput(input)) return Done{};
  const TensorType& given = context.input(input);
  if (given.dtype == DataType::Undefined) return Done{};
  if (given.dtype == type && given.container == Container::None) return Done{};
  return problem(fmt::format("input {} is {}, expected {}", input, given.text(), name(type)));
}

// --- If

const char* branchName(bool condition) {
  return condition ? "then_branch" : "else_branch";
}

Result<Types> inferBranch(const InferContext& context, bool condition) {
  const char* attribute = branchName(condition);
  const Subgraph body = TRY(bodyOf(context.node(), attribute));
  return outputTypes(context, *body.graph, TRY(inferBody(context, attribute, {})));
}

Result<Types> inferIf(const InferContext& context) {
  TRY(requireType(context, 0, DataType::Bool));
  const Subgraph yes = TRY(bodyOf(context.node(), branchName(true)));
  const Subgraph no = TRY(bodyOf(context.node(), branchName(false)));
  const std::size_t count = yes.graph->outputs().size();
  if (no.graph->outputs().size() != count) return problem("the branches have different numbers of outputs");
  if (context.node().outputs.size() > count)
    return problem(
        fmt::format("the branches have {} outputs, but the node has {}", count, context.node().outputs.size()));
  if (const auto condition = knownFlag(context.constant(0))) return inferBranch(context, *condition);
  const auto thenTypes = inferBranch(context, true), elseTypes = inferBranch(context, false);
  // A branch that cannot work at these types can only be one that is not taken.
  if (!thenTypes.ok() && !elseTypes.ok()) return thenTypes.error();
  if (!thenTypes.ok()) return elseTypes.value();
  if (!elseTypes.ok()) return thenTypes.value();
  Types types;
  for (std::size_t i = 0; i < count; ++i) types.push_back(joined(thenTypes.value()[i], elseTypes.value()[i]));
  return types;
}

Result<Tensors> runIf(const KernelContext& context) {
  const char* attribute = branchName(TRY(flagOf(context.input(0), "the condition")));
  const Subgraph body = TRY(bodyOf(context.node(), attribute));
  return GraphEvaluator(*body.graph).run(context.captures(attribute), context.stop());
}

// --- Loop

/// Loop(trip count?, condition?, carried …): the body's inputs are the iteration's number, the condition and the
/// carried values. Its outputs are the next condition, the next carried values, and one element for each scan output.
struct LoopForm {
  Subgraph body;
  std::size_t carried = 0, scans = 0;
};

Result<LoopForm> loopForm(const Node& node, std::size_t inputs) {
  LoopForm form{.body = TRY(bodyOf(node, "body"))};
  form.carried = inputs - std::min<std::size_t>(inputs, 2);
  const std::size_t outputs = form.body.graph->outputs().size();
  if (outputs < 1 + form.carried)
    return attributeProblem("body", fmt::format("its graph has {} outputs, expected at least {}: the condition and the "
                                                "loop-carried values",
                                                outputs, 1 + form.carried));
  form.scans = outputs - 1 - form.carried;
  form.body = TRY(checkedBody(node, "body", 2 + form.carried, outputs));
  if (node.outputs.size() > form.carried + form.scans)
    return problem(fmt::format("the body produces {} outputs, but the node has {}", form.carried + form.scans,
                               node.outputs.size()));
  return form;
}

Result<LoopTypes> inferLoopBody(const InferContext& context, const LoopForm& form) {
  static const Tensor kTrue = Tensor::ofInt64({1}).reshaped({}).converted(DataType::Bool);
  LoopInputs inputs;
  inputs.before = {{DataType::I64, Shape::of(Dims{})}, {DataType::Bool, Shape::of(Dims{})}};
  inputs.known = {nullptr, &kTrue};  // where the body runs, its condition was true
  for (std::size_t i = 0; i < form.carried; ++i) {
    if (!context.hasInput(2 + i)) return problem(fmt::format("input {} of Loop is missing", 2 + i));
    inputs.carried.push_back(context.input(2 + i));
  }
  return inferLoop(context, "body", std::move(inputs), 1);
}

/// Returns how often the body runs, if that is known: from the trip count alone, or because it does not run.
std::optional<std::int64_t> knownTrips(const InferContext& context, const LoopForm& form, const LoopTypes& types) {
  const auto most = knownInt(context, 0);
  if (most && *most <= 0) return 0;
  const auto first = knownFlag(context.constant(1));
  if (first && !*first) return 0;
  const bool startsTrue = !context.hasInput(1) || first;
  const ValueId next = form.body.graph->outputs()[0];
  const bool staysTrue = knownFlag(types.flow.known[next.index].get()) == true;
  return most && startsTrue && staysTrue ? most : std::nullopt;
}

TensorType withAxis(const TensorType& element, Dim extent) {
  if (element.container != Container::None) return {};
  TensorType type = element;
  if (type.shape.ranked) type.shape.dims.insert(type.shape.dims.begin(), extent);
  return type;
}

Result<Types> inferLoopNode(const InferContext& context) {
  TRY(requireType(context, 0, DataType::I64));
  TRY(requireType(context, 1, DataType::Bool));
  const LoopForm form = TRY(loopForm(context.node(), context.inputCount()));
  const LoopTypes types = TRY(inferLoopBody(context, form));
  const auto trips = knownTrips(context, form, types);
  Types outputs;
  for (std::size_t i = 0; i < form.carried; ++i)
    outputs.push_back(trips == 0 ? context.input(2 + i) : types.carried[i]);
  for (std::size_t i = 0; i < form.scans; ++i)
    outputs.push_back(withAxis(types.outputs[1 + form.carried + i], trips ? Dim(*trips) : Dim()));
  return outputs;
}

Result<Types> loopBodyInputs(const InferContext& context, const std::string&) {
  const LoopForm form = TRY(loopForm(context.node(), context.inputCount()));
  return TRY(inferLoopBody(context, form)).inputs.types;
}

Result<std::int64_t> tripCount(const KernelContext& context) {
  if (!context.hasInput(0)) return INT64_MAX;
  if (context.input(0).count() != 1) return problem("the trip count must be a single number");
  return context.input(0).asInt64(0);
}

Result<Tensors> runLoop(const KernelContext& context) {
  const LoopForm form = TRY(loopForm(context.node(), context.inputCount()));
  const std::int64_t trips = TRY(tripCount(context));
  bool goOn = context.hasInput(1) ? TRY(flagOf(context.input(1), "the condition")) : true;
  Tensors carried;
  for (std::size_t i = 0; i < form.carried; ++i) carried.push_back(context.input(2 + i));
  std::vector<Tensors> scanned(form.scans);
  const GraphEvaluator body(*form.body.graph);
  const auto captures = context.captures("body");
  for (std::int64_t trip = 0; trip < trips && goOn; ++trip) {
    TRY(checkStop(context.stop()));
    const Tensor number = Tensor::ofInt64({trip}).reshaped({});
    const Tensor condition = Tensor::ofInt64({1}).reshaped({}).converted(DataType::Bool);
    std::vector<const Tensor*> inputs{&number, &condition};
    for (const Tensor& tensor : carried) inputs.push_back(&tensor);
    inputs.insert(inputs.end(), captures.begin(), captures.end());
    Tensors outputs = TRY(body.run(inputs, context.stop()));
    goOn = TRY(flagOf(outputs[0], "the condition that the body returns"));
    for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = std::move(outputs[1 + i]);
    for (std::size_t i = 0; i < form.scans; ++i) scanned[i].push_back(std::move(outputs[1 + carried.size() + i]));
  }
  Tensors results = std::move(carried);
  for (std::size_t i = 0; i < form.scans && results.size() < context.outputCount(); ++i)
    results.push_back(TRY(scanOutput(scanned[i], 0, context.output(form.carried + i))));
  return results;
}

}  // namespace

void registerControlFlow(OpRegistry& registry) {
  registry.add({.op = "If",
                .kind = OpKind::ControlFlow,
                .minInputs = 1,
                .maxInputs = 1,
                .infer = inferIf,
                .kernel = runIf,
                .maxOutputs = -1,
                .extentsDependOnData = true,
                .takesContainers = true,
                .bodyInputs = [](const InferContext&, const std::string&) -> Result<Types> { return Types(); }});
  registry.add({.op = "Loop",
                .kind = OpKind::ControlFlow,
                .minInputs = 0,
                .maxInputs = 100'000,
                .infer = inferLoopNode,
                .kernel = runLoop,
                .maxOutputs = -1,
                .extentsDependOnData = true,
                .takesContainers = true,
                .bodyInputs = loopBodyInputs});
}

}  // namespace fusescope::ops
