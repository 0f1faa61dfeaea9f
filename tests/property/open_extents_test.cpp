// Random networks whose inputs leave extents open: planned once and run at many extents, they give what plans for just
// those extents give.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "engine/engine.h"
#include "engine/program/extent_check.h"
#include "passes/pipelines.h"
#include "planning/plan_json.h"
#include "tests/property/graph_maker.h"
#include "tests/property/kernel_checks.h"
#include "tests/property/seeds.h"

namespace fusescope::property {
namespace {

using Extents = std::map<std::string, Dims>;

struct Counts {
  int networks = 0, open = 0, runs = 0, broken = 0, conditions = 0;
};

/// Adds nodes that join inputs element by element: where their extents are open, this is what conditions are for.
void joinInputs(GraphEditor& editor, Model& model) {
  const std::vector<ValueId> inputs = editor.current().inputs();
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Dims &a = model.inputSpecs[i - 1].opt, &b = model.inputSpecs[i].opt;
    bool fits = a.size() == b.size();
    for (std::size_t axis = 0; fits && axis < a.size(); ++axis)
      fits = a[axis] == b[axis] || a[axis] == 1 || b[axis] == 1;
    if (!fits) continue;
    const auto add = [&](const std::string& op, std::vector<ValueId> operands) {
      const std::string name = fmt::format("{}_of_inputs_{}", op, i);
      const ValueId result = editor.addValue(name + "_out", {DataType::F32, Shape::unknown()});
      model.origins.push_back({name, op, ""});
      editor.addNode({.op = op,
                      .name = name,
                      .inputs = std::move(operands),
                      .outputs = {result},
                      .origins = {OriginId(model.origins.size() - 1)}});
      return result;
    };
    const ValueId sum = add("Add", {inputs[i - 1], inputs[i]});
    editor.addOutput(add("Mul", {add("Relu", {sum}), inputs[i]}));
  }
}

/// Some extents of the inputs become symbols: of their own, or shared by inputs with the same extent. What nodes make
/// has no types until they are inferred.
Model opened(const Model& model, Dice& dice) {
  GraphEditor editor(*model.graph);
  Model result = model;
  const Graph& graph = *model.graph;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value& input = graph.value(graph.inputs()[i]);
    TensorType type = input.type;
    InputSpec& spec = result.inputSpecs[i];
    for (std::size_t axis = 0; axis < type.shape.rank(); ++axis) {
      if (dice.oneIn(2)) continue;
      const std::int64_t extent = spec.opt[axis];
      const bool shared = dice.oneIn(2);
      type.shape.dims[axis] =
          dice.oneIn(6) ? Dim() : Dim::named(shared ? fmt::format("n{}", extent) : fmt::format("s{}_{}", i, axis));
      spec.min[axis] = 1;
      spec.max[axis] = 64;
    }
    editor.setType(input.id, type);
  }
  for (const NodeId id : graph.order())
    for (const ValueId output : graph.node(id).outputs)
      if (output.valid()) editor.setType(output, {graph.value(output).type.dtype, Shape::unknown()});
  joinInputs(editor, result);
  result.graph = editor.publish().value();
  return result;
}

/// Other extents for the symbols of the inputs as they were declared; equal ones for equal symbols.
Extents otherExtents(const Model& model, Dice& dice) {
  std::map<std::string, std::int64_t> chosen;
  const bool few = dice.oneIn(2);  // most extents stay
  Extents extents;
  for (std::size_t i = 0; i < model.graph->inputs().size(); ++i) {
    const Value& input = model.graph->value(model.graph->inputs()[i]);
    Dims dims = model.inputSpecs[i].opt;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const Dim& dim = input.type.shape.dims[axis];
      if (dim.known()) continue;
      const std::int64_t roll = few && !dice.oneIn(4) ? 1 : static_cast<std::int64_t>(dice.below(4));
      const std::int64_t extent = roll == 0 ? 1 : roll == 1 ? dims[axis] : roll == 2 ? 2 * dims[axis] : dims[axis] + 1;
      const auto known = chosen.find(dim.symbol);
      dims[axis] = dim.symbol.empty() || known == chosen.end() ? extent : known->second;
      if (!dim.symbol.empty()) chosen.try_emplace(dim.symbol, extent);
    }
    extents[input.name] = dims;
  }
  return extents;
}

std::map<std::string, Tensor> randomInputs(const Graph& graph, const Extents& extents, Dice& dice) {
  std::map<std::string, Tensor> inputs;
  for (const ValueId id : graph.inputs()) {
    const Value& input = graph.value(id);
    Tensor tensor = Tensor::zeros(DataType::F32, extents.at(input.name));
    for (float& element : tensor.mutableData<float>()) element = static_cast<float>(dice.below(2001)) / 1000 - 1;
    inputs.emplace(input.name, tensor.converted(input.type.dtype));
  }
  return inputs;
}

std::string differences(const RunResult& given, const RunResult& wanted) {
  for (const auto& [name, tensor] : wanted.outputs) {
    const auto found = given.outputs.find(name);
    if (found == given.outputs.end()) return "no output " + name;
    if (!isNear(found->second, tensor))
      return fmt::format("output {} is {} and not what the plan for just these extents gives", name,
                         typeOf(found->second).text());
  }
  return {};
}

std::string extentsText(const Extents& extents) {
  std::string text;
  for (const auto& [name, dims] : extents) text += name + "=" + toText(dims) + " ";
  return text;
}

/// One set of extents. Those that the network cannot have are passed over: they are an error for either plan.
std::string checkAt(Engine& engine, const Extents& extents, Dice& dice, Counts& counts) {
  const auto plan = planForExtents(engine.plan(), extents, {});
  if (!plan.ok()) return {};
  auto alone = buildEngine(plan.value(), {.backend = "reference", .threads = 1, .measureTactics = false});
  if (!alone.ok()) return {};
  const auto inputs = randomInputs(engine.plan().graph(), extents, dice);
  const auto wanted = alone.value()->run(inputs);
  if (!wanted.ok()) return {};
  const auto given = engine.run(inputs);
  const std::string where = "at " + extentsText(extents) + ": ";
  if (!given.ok()) return where + given.error().text();
  ++counts.runs;
  const auto isBroken = [](const Decision& decision) { return decision.code == "build.condition_failed"; };
  counts.broken = static_cast<int>(std::ranges::count_if(engine.report().decisions, isBroken));
  const std::string problem = differences(given.value(), wanted.value());
  return problem.empty() ? problem : where + problem;
}

std::string check(std::uint64_t seed, Counts& all) {
  Dice dice(seed * 104'729 + 3);
  const auto made = GraphMaker(seed, {.f32Only = true, .smooth = true}).make(4 + dice.below(24));
  if (made == nullptr) return "the network could not be made";
  ++all.networks;
  const Model declared = opened(*made, dice);
  auto model = prepareModel(declared);
  if (!model.ok()) return {};  // it has to have the extents that it had
  const auto plan = makePlan(std::make_shared<const Model>(std::move(model).value()), {});
  if (!plan.ok()) return plan.error().text();
  if (const Status verified = verifyPlan(*plan.value()); !verified.ok()) return verified.error().text();
  Counts own;
  own.conditions = static_cast<int>(plan.value()->model->conditions.size());
  auto engine = buildEngine(plan.value(),
                            {.backend = seed % 2 == 0 ? "native" : "reference", .threads = 1, .measureTactics = false});
  if (!engine.ok()) return engine.error().text();
  std::string problem;
  for (int run = 0; run < 6 && problem.empty(); ++run)
    problem = checkAt(*engine.value(), otherExtents(declared, dice), dice, own);
  all.open += own.runs > 0 ? 1 : 0;
  all.runs += own.runs;
  all.broken += own.broken;
  all.conditions += own.conditions;
  if (problem.empty() || std::getenv("FUSESCOPE_PROPERTY_CASES") == nullptr) return problem;
  return problem + "\n" + printGraph(plan.value()->graph()) + printPlan(*plan.value());
}

TEST(OpenExtents, APlanGivesAtEveryExtentWhatAPlanForItGives) {
  const Seeds seeds = Seeds::asked(300);
  Counts counts;
  seeds.run([&](std::uint64_t seed) { return check(seed, counts); });
  fmt::print("{} networks, {} run at {} sets of extents; {} conditions, {} sets that broke one\n", counts.networks,
             counts.open, counts.runs, counts.conditions, counts.broken);
  if (seeds.cases < 300) return;
  EXPECT_GT(counts.runs, 300);
  EXPECT_GT(counts.conditions, 50);
  EXPECT_GT(counts.broken, 20);
}

}  // namespace
}  // namespace fusescope::property
