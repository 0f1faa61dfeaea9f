#include "session/runs/value_of_both.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/json_fields.h"
#include "base/name_hints.h"
#include "base/quantities.h"
#include "base/text.h"
#include "engine/kernels/input_check.h"
#include "engine/kernels/plan_backend.h"
#include "engine/program/extent_check.h"
#include "engine/steps/fused_node_steps.h"
#include "interchange/npz.h"
#include "ir/place.h"
#include "planning/types/without_lowered_types.h"
#include "session/build_and_run.h"
#include "session/documents/layer_error_report.h"
#include "session/exact_engine.h"
#include "verify/exact_network.h"
#include "verify/exact_run.h"

namespace fusescope {
namespace {

using PlanPointer = std::shared_ptr<const Plan>;

/// Returns the fused node that writes `value` to memory; null if there is none.
const FusedNode* makerOf(const Plan& plan, ValueId value) {
  const auto makes = [&](const FusedNode& fused) {
    return std::ranges::find(fused.outputs, value, &FusedOutput::value) != fused.outputs.end();
  };
  const auto found = std::ranges::find_if(plan.fusedNodes, makes);
  return found == plan.fusedNodes.end() ? nullptr : &*found;
}

/// Returns the names of the inputs and outputs of a node.
std::vector<std::string> valuesAround(const Graph& graph, const Node& node) {
  std::vector<std::string> names;
  for (const auto* values : {&node.inputs, &node.outputs})
    for (const ValueId value : *values)
      if (value.valid()) names.push_back(graph.value(value).name);
  return names;
}

/// Returns the value of this name if a node of the network calculates it, so that a run can return it.
Result<ValueId> madeValue(const Plan& plan, const std::string& name) {
  const NamedValue value = TRY(valueNamed(plan, name));
  if (value.isMade() && !value.isInBody) return value.id;
  return Diagnostic{.message = value.isMade()
                                   ? "a body calculates it again in each of its calls, and none of these values is kept"
                                   : "no node calculates it: it is an input or a constant, the same in every plan",
                    .where = {.file = plan.model->path, .value = name}};
}

Status checkBytes(std::size_t bytes, std::size_t most, const std::string& value) {
  if (bytes <= most) return Done{};
  return Diagnostic{
      .message = fmt::format("both tensors together have {}, and at most {} are returned",
                             inBytes(static_cast<std::int64_t>(bytes)), inBytes(static_cast<std::int64_t>(most))),
      .where = {.value = value},
      .help = "Choose smaller inputs, or run the network with --mark and open the file."};
}

/// Returns `tensor` with numbers of a type that a .npz file can contain.
Tensor writable(const Tensor& tensor) {
  const DataType type = tensor.type();
  if (tensor.container() != Container::None || type == DataType::String) return tensor;
  if (isPacked(type) && isInteger(type)) return tensor.converted(DataType::I8);
  const bool isOdd = isFloat(type) && type != DataType::F64 && type != DataType::F32 && !isNarrow(type);
  return isOdd ? tensor.converted(DataType::F32) : tensor;
}

/// Runs `plan` on the sample until `value` has been calculated.
Result<Tensor> valueBy(const PlanPointer& plan, ValueId value, const Sample& sample, const BuildOptions& build) {
  const auto extents = TRY(checkInputs(*plan, sample.inputs));
  const auto steps = TRY(FusedNodeSteps::create(TRY(planAt(plan, extents, build.stop)), extents, build));
  const std::vector<std::string> names{sample.name};
  ExactPlanRun run(*steps, names);
  KeptValues values;
  run.countUses(values);
  values.willUse(value);
  for (const ValueId input : plan->graph().inputs())
    values.keep(input, {sample.inputs.at(plan->graph().value(input).name)});
  TRY(run.advance(std::span(&value, 1), values, build.stop));
  if (values.has(value)) return values.of(value).front();
  return Diagnostic{
      .message = "at the extents of these inputs the network has another plan, which does not keep it in memory",
      .where = {.value = plan->graph().value(value).name}};
}

/// Plans the network in float32 so that `value` is in memory.
Result<PlanPointer> exactPlanWith(const Plan& lowered, ValueId value, const StopToken& stop) {
  const auto model = TRY(exactNetworkOf(lowered, stop));
  PlanOptions options = withoutLoweredTypes(lowered.options);
  PlanPointer exact = TRY(makePlan(model, options, nullptr, stop, &lowered));
  if (makerOf(*exact, value) != nullptr) return exact;
  options.directives.push_back(splitDirective(model->graph->node(model->graph->value(value).producer).name));
  assignIds(options.directives);
  return makePlan(model, options, nullptr, stop, exact.get());
}

Status fillExact(const Plan& lowered, ValueId value, const Sample& sample, const BuildOptions& build,
                 ValueOfBoth& both) {
  const ExactCounterparts counterparts(lowered.graph(), TRY(exactNetworkOf(lowered, build.stop)));
  const auto exact = counterparts.of(value);
  if (!exact || !counterparts.exact().graph->has(counterparts.exact().graph->value(*exact).producer)) {
    both.whyNoExact = "the network in float32 has no value of this name";
    return Done{};
  }
  both.exact = TRY(valueBy(TRY(exactPlanWith(lowered, *exact, build.stop)), *exact, sample, build));
  if (const CodeMeaning* meaning = counterparts.meaning(value); meaning != nullptr && both.planned) {
    both.planned = TRY(meaning->numbersOf(*both.planned, build.stop));
    both.codes = true;
  }
  return Done{};
}

Result<ValueOfBoth> ofOurs(const Artifact& artifact, const std::string& name, const Sample& sample,
                           const LayerErrorOptions& options, std::size_t mostBytes) {
  const PlanPointer plan = planRunBy(artifact.plan, options.backend);
  const ValueId value = TRY(madeValue(*plan, name));
  const BuildOptions build{.backend = options.backend, .threads = options.threads, .stop = options.stop};
  ValueOfBoth both{.value = name, .sample = sample.name};
  if (const FusedNode* maker = makerOf(*plan, value)) {
    if (options.progress) options.progress("run", fmt::format("{} with the plan's types", sample.name));
    both.fusedNode = maker->name;
    both.stored = std::ranges::find(maker->outputs, value, &FusedOutput::value)->type;
    both.planned = TRY(valueBy(plan, value, sample, build));
    TRY(checkBytes(2 * both.planned->byteSize(), mostBytes, name));
  } else {
    both.whyNoPlanned = "it is an inner value of a kernel of the plan, so it is not in memory";
  }
  if (options.progress) options.progress("run", fmt::format("{} in float32", sample.name));
  TRY(fillExact(*plan, value, sample, build, both));
  TRY(checkBytes((both.exact ? both.exact->byteSize() : 0) + (both.planned ? both.planned->byteSize() : 0), mostBytes,
                 name));
  return both;
}

/// Returns the values that another compiler's engine and our own engine in float32 calculate.
Result<ValueOfBoth> ofOther(const Artifact& artifact, const std::string& name, const Sample& sample,
                            const LayerErrorOptions& options, std::size_t mostBytes) {
  TRY(madeValue(*artifact.plan, name));
  BuildOptions build = buildOptions(artifact, options.threads, options.stop, options.progress);
  build.shapes = extentsOf(sample.inputs);
  ValueOfBoth both{.value = name, .sample = sample.name};
  const auto take = [&](Engine& engine, std::optional<Tensor>& into, std::string& whyNot) -> Status {
    RunResult result = TRY(engine.run(sample.inputs, {"all"}, options.stop));
    for (const auto* tensors : {&result.outputs, &result.marked})
      if (const auto found = tensors->find(name); found != tensors->end()) into = found->second;
    if (!into) whyNot = "it is not in memory that can be read";
    return into ? checkBytes(2 * into->byteSize(), mostBytes, name) : Status(Done{});
  };
  const auto lowered = TRY(openEngine(artifact, build));
  TRY(take(*lowered, both.planned, both.whyNoPlanned));
  const auto exact = TRY(exactEngine(*artifact.plan, build));
  TRY(take(*exact, both.exact, both.whyNoExact));
  if (both.planned) both.stored = both.planned->type();
  return both;
}

}  // namespace

Result<NamedValue> valueNamed(const Plan& plan, const std::string& name) {
  const Graph& graph = plan.graph();
  if (const auto value = graph.findValue(name)) return NamedValue{&graph, *value};
  for (const NamedBody& body : bodiesNamed(graph, name))
    if (const auto value = body.body->graph->findValue(body.rest))
      return NamedValue{body.body->graph.get(), *value, true};
  const Diagnostic error{.message = "the network has no value of this name",
                         .where = {.file = plan.model->path, .value = name}};
  if (const auto node = graph.findNode(name)) {
    Diagnostic ofNode = error;
    ofNode.help = fmt::format("It is a node, whose values are {}.", listed(valuesAround(graph, graph.node(*node))));
    return ofNode;
  }
  std::vector<std::string> names;
  for (const ValueId id : graph.allValues()) names.push_back(graph.value(id).name);
  Diagnostic unknown = error;
  unknown.help = nearestInWords(name, names, "'plan --json' lists the values of each kernel.");
  return unknown;
}

Result<ValueOfBoth> valueOfBoth(const Artifact& artifact, const std::string& value, const Sample& sample,
                                const LayerErrorOptions& options, std::size_t mostBytes) {
  return artifact.isOurs() ? ofOurs(artifact, value, sample, options, mostBytes)
                           : ofOther(artifact, value, sample, options, mostBytes);
}

Result<const Sample*> sampleNumber(const Samples& samples, std::int64_t number) {
  if (number >= 0 && number < std::ssize(samples.list)) return &samples.list[static_cast<std::size_t>(number)];
  return Diagnostic{
      .message = fmt::format("there is no sample {}", number),
      .where = {.attribute = "--sample"},
      .help = fmt::format("There {} {}, the first has the number 0.", samples.list.size() == 1 ? "is" : "are",
                          counted(std::ssize(samples.list), "sample"))};
}

Result<Json> writeValueOfBoth(const ValueOfBoth& value, const std::filesystem::path& path) {
  NpzArrays arrays;
  Json json = {{"value", value.value},
               {"sample", value.sample},
               {"fused_node", value.fusedNode},
               {"stored", name(value.stored)},
               {"codes", value.codes},
               {"file", path.string()},
               {"why_no_exact", value.whyNoExact},
               {"why_no_planned", value.whyNoPlanned}};
  const auto add = [&](const char* key, const std::optional<Tensor>& tensor, const char* whyNot) {
    if (!tensor) return;
    if (tensor->container() == Container::None) {
      arrays[key] = writable(*tensor);
    } else {
      json[whyNot] = "it is a sequence or an optional value, not a tensor";
    }
  };
  add("exact", value.exact, "why_no_exact");
  add("planned", value.planned, "why_no_planned");
  TRY(writeNpz(path, arrays));
  return json;
}

Result<ValueOfBoth> readValueOfBoth(const Json& reply) {
  ValueOfBoth both;
  std::string file, stored;
  JsonFields fields(reply);
  fields.require("value").read("value", both.value).read("sample", both.sample);
  fields.read("fused_node", both.fusedNode).read("stored", stored).read("codes", both.codes);
  fields.require("file").read("file", file);
  fields.read("why_no_exact", both.whyNoExact).read("why_no_planned", both.whyNoPlanned);
  fields.read("samples", both.samples).read("random_inputs", both.randomInputs);
  both.stored = dataTypeFromName(stored).value_or(DataType::Undefined);
  both = TRY(fields.result(std::move(both)));
  NpzArrays arrays = TRY(readNpz(file));
  const auto take = [&](const char* key, std::optional<Tensor>& into) {
    if (const auto found = arrays.find(key); found != arrays.end()) into = std::move(found->second);
  };
  take("exact", both.exact);
  take("planned", both.planned);
  return both;
}

}  // namespace fusescope
