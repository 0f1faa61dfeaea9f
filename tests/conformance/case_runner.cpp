#include "tests/conformance/case_runner.h"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>

#include "engine/engine.h"
#include "frontends/importers.h"
#include "frontends/value_files.h"
#include "passes/pipelines.h"
#include "planning/plan.h"
#include "session/artifact.h"
#include "session/open_model.h"
#include "tests/support/node_by_node.h"
#include "verify/compare_tensors.h"

namespace fusescope::conformance {
namespace {

using Values = std::map<std::string, Tensor>;

Outcome failed(std::string problem, std::string message) {
  return {.passed = false, .problem = std::move(problem), .message = std::move(message), .native = false};
}

/// A diagnostic without the file's path: it stands in known.txt.
Outcome failed(std::string problem, Diagnostic error) {
  error.where.file.clear();
  return failed(std::move(problem), error.text());
}

Result<Values> readValues(const std::filesystem::path& set, const std::string& role,
                          const std::vector<CaseValue>& declared) {
  Values values;
  for (std::size_t slot = 0; slot < declared.size(); ++slot) {
    const auto path = set / (role + "_" + std::to_string(slot) + ".pb");
    values[declared[slot].name] = TRY(readValueFile(path, declared[slot].type));
  }
  return values;
}

/// Complex numbers as pairs of floats, which is how they lie in memory.
Tensor asReal(const Tensor& tensor) {
  if (tensor.type() != DataType::C64 && tensor.type() != DataType::C128) return tensor;
  Dims dims = tensor.dims();
  dims.push_back(2);
  const auto owner = std::make_shared<Tensor>(tensor);
  return Tensor::view(tensor.type() == DataType::C64 ? DataType::F32 : DataType::F64, dims, owner, owner->bytes());
}

/// What is different, or nothing.
std::string difference(const std::string& what, const Tensor& actual, const Tensor& expected, const Case& given) {
  if (actual.container() != expected.container() || actual.type() != expected.type())
    return what + " is " + typeOf(actual).text() + ", expected is " + typeOf(expected).text();
  if (expected.container() != Container::None) {
    if (actual.elements().size() != expected.elements().size())
      return what + " has " + std::to_string(actual.elements().size()) + " elements, expected are " +
             std::to_string(expected.elements().size());
    for (std::size_t i = 0; i < expected.elements().size(); ++i) {
      const std::string element = what + "[" + std::to_string(i) + "]";
      const auto found = difference(element, actual.elements()[i], expected.elements()[i], given);
      if (!found.empty()) return found;
    }
    return {};
  }
  const Tensor real = asReal(expected);
  const Tolerance tolerance =
      isFloat(real.type()) ? Tolerance{.rms = {}, .absolute = given.absolute, .relative = given.relative} : Tolerance{};
  const TensorComparison compared = compareTensors(what, asReal(actual), real, tolerance);
  if (compared.ok) return {};
  if (!compared.problem.empty()) return what + " " + compared.problem;
  return what + ": largest difference " + jsonNumber(compared.maxAbs).dump() + ", relative " +
         jsonNumber(compared.maxRel).dump();
}

/// Extents of inputs that the model leaves open, as those of the first data set.
std::vector<InputOverride> openExtents(const Model& model, const Values& inputs) {
  std::vector<InputOverride> overrides;
  for (const ValueId id : model.graph->inputs()) {
    const Value& value = model.graph->value(id);
    const auto given = inputs.find(value.name);
    if (given == inputs.end() || value.type.container != Container::None || value.type.shape.fixed()) continue;
    InputOverride input;
    input.name = value.name;
    input.fixed = given->second.dims();
    overrides.push_back(std::move(input));
  }
  return overrides;
}

Outcome runSet(Engine& engine, const std::filesystem::path& set, const Case& given) {
  const auto inputs = readValues(set, "input", given.inputs);
  if (!inputs.ok()) return failed("values cannot be read", inputs.error());
  const auto expected = readValues(set, "output", given.outputs);
  if (!expected.ok()) return failed("values cannot be read", expected.error());
  const auto ran = engine.run(inputs.value());
  if (!ran.ok()) return failed("fails when run", ran.error());
  for (const auto& [name, tensor] : expected.value()) {
    const auto found = ran.value().outputs.find(name);
    if (found == ran.value().outputs.end()) return failed("wrong numbers", "output '" + name + "' is missing");
    const auto different = difference("output '" + name + "'", found->second, tensor, given);
    if (!different.empty()) return failed("wrong numbers", different);
  }
  return {.passed = true, .problem = {}, .message = {}, .native = false};
}

Outcome buildProblem(const Diagnostic& error) {
  const bool lacksKernel = error.message.find("kernel") != std::string::npos;
  return failed(lacksKernel ? "no kernel" : "no engine can be built", error);
}

/// Null, and the problem, if there is none.
std::shared_ptr<const Plan> planOf(const Case& given, const Values& inputs, const PlanOptions& options,
                                   Outcome& problem) {
  const auto path = given.folder / "model.onnx";
  const auto refused = [&](std::string what, const Diagnostic& error) {
    problem = failed(std::move(what), error);
    return nullptr;
  };
  const auto imported = importModel(path);
  if (!imported.ok()) return refused("refused by the importer", imported.error());
  auto model = openModel(path, openExtents(imported.value(), inputs));
  if (!model.ok()) return refused("cannot be prepared", model.error());
  auto plan = makePlan(model.value(), options);
  if (!plan.ok()) return refused("cannot be planned", plan.error());
  if (const auto sound = verifyPlan(*plan.value()); !sound.ok()) return refused("the plan is unsound", sound.error());
  return plan.value();
}

Outcome runNarrow(const Case& given, DataType type) {
  const auto sets = given.dataSets();
  if (sets.empty()) return failed("values cannot be read", "the case holds no data set");
  const auto inputs = readValues(sets.front(), "input", given.inputs);
  if (!inputs.ok()) return failed("values cannot be read", inputs.error());
  Outcome outcome{.passed = true};
  const auto plan = planOf(given, inputs.value(), {.precisions = {type}}, outcome);
  if (plan == nullptr) return outcome;
  const Graph& graph = plan->graph();
  const auto isTensor = [&](ValueId value) { return graph.value(value).type.container == Container::None; };
  if (!std::ranges::all_of(graph.allValues(), isTensor)) return outcome;
  const test::NodeByNode found = test::runNodeByNode(*plan, inputs.value());
  if (found.fusedNodes > 0 && found.isUnknown) return outcome;
  if (!found.problems.empty()) return failed("wrong numbers", found.problems.front());
  outcome.kernels = found.narrow;
  outcome.native = found.narrow > 0;
  return outcome;
}

Outcome run(const Case& given, const std::string& backend) {
  const auto sets = given.dataSets();
  if (sets.empty()) return failed("values cannot be read", "the case holds no data set");
  const auto first = readValues(sets.front(), "input", given.inputs);
  if (!first.ok()) return failed("values cannot be read", first.error());
  Outcome problem;
  const auto plan = planOf(given, first.value(), {}, problem);
  if (plan == nullptr) return problem;

  BuildOptions options;
  options.backend = backend;
  options.threads = 1;
  options.measureTactics = false;
  for (const auto& [name, tensor] : first.value())
    if (tensor.container() == Container::None) options.shapes[name] = tensor.dims();
  auto engine = buildEngine(plan, options);
  if (!engine.ok()) return buildProblem(engine.error());

  Outcome outcome;
  for (const auto& set : sets) {
    outcome = runSet(*engine.value(), set, given);
    if (!outcome.passed) break;
  }
  outcome.native = std::ranges::any_of(engine.value()->report().tactics,
                                       [](const TacticChoice& choice) { return choice.chosen != "reference"; });
  return outcome;
}

}  // namespace

Outcome runCase(const Case& given, const std::string& backend) {
  try {
    return run(given, backend);
  } catch (const std::exception& error) {
    return failed("throws", error.what());
  }
}

Outcome runNarrowCase(const Case& given, DataType type) {
  try {
    return runNarrow(given, type);
  } catch (const std::exception& error) {
    return failed("throws", error.what());
  }
}

}  // namespace fusescope::conformance
