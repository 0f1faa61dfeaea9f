// Random networks with bodies, nested once: their plans pass the verifier, say the same each time, take directives
// about what is inside, and run on the native backend as their nodes do one by one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "engine/engine.h"
#include "frontends/importers.h"
#include "frontends/onnx_writer.h"
#include "onnxlib/onnxlib.h"
#include "passes/pipelines.h"
#include "planning/plan_json.h"
#include "tests/property/graph_maker.h"
#include "tests/property/kernel_checks.h"
#include "tests/property/plan_checks.h"
#include "tests/property/seeds.h"
#include "tests/support/paths.h"

namespace fusescope::property {
namespace {

struct Counts {
  int networks = 0, bodies = 0, planned = 0, pins = 0, answers = 0, runs = 0;
};

std::size_t bodiesIn(const Model& model) {
  std::size_t count = model.bodies.size();
  for (const ModelBody& body : model.bodies) count += bodiesIn(*body.model);
  return count;
}

std::size_t plannedBodies(const Plan& plan) {
  std::size_t count = plan.bodies.size();
  for (const CoverBody& body : plan.bodies) count += plannedBodies(plannedBody(body));
  return count;
}

/// The path of some node in some body; empty where there is none.
std::string pathInBody(const Model& model, Dice& dice) {
  if (model.bodies.empty()) return {};
  const ModelBody& body = dice.of(model.bodies);
  const Graph& inside = *body.model->graph;
  const std::string prefix = model.graph->node(body.holder).name + "/";
  const std::string deeper = dice.oneIn(2) ? pathInBody(*body.model, dice) : std::string();
  if (!deeper.empty()) return prefix + deeper;
  return inside.nodeCount() == 0 ? std::string() : prefix + inside.node(dice.of(inside.order())).name;
}

PlanOptions optionsFor(const Model& model, Dice& dice, bool lowers) {
  static const std::vector<DataType> kTypes{DataType::F32, DataType::F16, DataType::BF16};
  PlanOptions options{.target = "cpu:avx512_bf16+avx512_fp16"};
  for (std::size_t i = dice.below(4); i > 0; --i) {
    const std::string path = pathInBody(model, dice);
    if (path.empty()) continue;
    Directive directive{.id = std::to_string(i), .kind = DirectiveKind::Pin, .pattern = path};
    directive.type = lowers ? dice.of(kTypes) : DataType::F32;
    if (dice.oneIn(4)) directive = splitDirective(path), directive.id = std::to_string(i);
    options.directives.push_back(directive);
  }
  if (dice.oneIn(6))
    options.directives.push_back(fallbackDirective(model.graph->node(dice.of(model.graph->order())).name));
  return options;
}

std::map<std::string, Tensor> randomInputs(const Graph& graph, Dice& dice) {
  std::map<std::string, Tensor> inputs;
  for (const ValueId id : graph.inputs()) {
    const Value& input = graph.value(id);
    Tensor tensor = Tensor::zeros(DataType::F32, input.type.shape.fixed().value());
    if (input.type.dtype == DataType::I64) {  // how often a loop runs
      inputs.emplace(input.name, Tensor::ofInt64({static_cast<std::int64_t>(dice.below(4))}).reshaped({}));
      continue;
    }
    for (float& element : tensor.mutableData<float>()) element = static_cast<float>(dice.below(2001)) / 1000 - 1;
    inputs.emplace(input.name, tensor.converted(input.type.dtype));
  }
  return inputs;
}

/// Every directive about a node in a body has an answer under the whole path, from where its holder has plans.
std::string unanswered(const Plan& plan, Counts& counts) {
  for (const Directive& directive : plan.options.directives) {
    if (directive.kind != DirectiveKind::Pin) continue;
    ++counts.pins;
    const auto answers = [&](const Decision& decision) { return decision.by == causeOf(directive); };
    const auto found = std::ranges::count_if(plan.decisions, answers);
    counts.answers += found > 0 ? 1 : 0;
    if (found == 0) return causeOf(directive).text() + " on " + directive.pattern + " has no answer";
  }
  return {};
}

std::string checkRuns(const std::shared_ptr<const Plan>& plan, const Graph& original, bool lowers, Dice& dice,
                      Counts& counts) {
  auto engine = buildEngine(plan, {.backend = "native", .threads = 1, .measureTactics = false});
  if (!engine.ok()) return engine.error().text();
  for (int run = 0; run < 3; ++run) {
    const auto inputs = randomInputs(original, dice);
    const auto wanted = runNodes(original, inputs);
    if (!wanted.ok()) return wanted.error().text();
    const auto given = engine.value()->run(inputs);
    if (!given.ok()) return given.error().text();
    ++counts.runs;
    for (const auto& [name, tensor] : wanted.value()) {
      const auto found = given.value().outputs.find(name);
      if (found == given.value().outputs.end()) return "no output " + name;
      if (found->second.dims() != tensor.dims())
        return fmt::format("output {} is {} in place of {}", name, typeOf(found->second).text(), typeOf(tensor).text());
      if (!lowers && !isNear(found->second, tensor)) return "output " + name + " is not what the nodes give one by one";
    }
  }
  return {};
}

std::string check(std::uint64_t seed, Counts& counts) {
  Dice dice(seed * 15'485'863 + 7);
  const auto made = GraphMaker(seed, {.f32Only = true, .smooth = true, .bodies = 2}).make(4 + dice.below(20));
  if (made == nullptr) return "the network could not be made";
  auto prepared = prepareModel(*made);
  if (!prepared.ok()) return prepared.error().text();
  const auto model = std::make_shared<const Model>(std::move(prepared).value());
  ++counts.networks;
  counts.bodies += static_cast<int>(bodiesIn(*model));
  const bool lowers = dice.oneIn(2);
  const PlanOptions options = optionsFor(*model, dice, lowers);
  const auto plan = makePlan(model, options);
  if (!plan.ok()) return plan.error().text();
  counts.planned += static_cast<int>(plannedBodies(*plan.value()));
  std::string problem;
  if (const Status verified = verifyPlan(*plan.value()); !verified.ok()) problem = verified.error().text();
  if (problem.empty()) problem = checkRepeats(*plan.value(), options, nullptr);
  if (problem.empty()) problem = unanswered(*plan.value(), counts);
  if (problem.empty()) problem = checkRuns(plan.value(), *made->graph, lowers, dice, counts);
  if (problem.empty() || std::getenv("FUSESCOPE_PROPERTY_CASES") == nullptr) return problem;
  return problem + "\n" + printGraph(*made->graph) + printGraph(*model->graph) + printPlan(*plan.value());
}

/// A plan's text without the numbers that names get in bodies, and without what a file calls a graph that
/// has no name, or where nodes stand in it.
std::string textOf(const Plan& plan) {
  return std::regex_replace(printGraph(plan.graph()) + printPlan(plan),
                            std::regex("#[0-9]+|, origins=\\[[0-9, ]*\\]|graph \"(graph)?\""), "");
}

Result<std::shared_ptr<const Model>> writtenAndRead(const Graph& graph, const test::TemporaryFolder& folder) {
  const auto path = folder.write("written.onnx", TRY(onnxBytes(graph)));
  if (const auto complaint = onnxlib::checkerComplaint(path)) return Diagnostic{.message = *complaint};
  return std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(path)))));
}

/// What is written as an ONNX file and read again is the same network with the same plan and the same numbers, and
/// ONNX's checker takes it.
std::string checkWritten(std::uint64_t seed, Counts& counts, const test::TemporaryFolder& folder) {
  Dice dice(seed * 32'452'843 + 3);
  const bool smooth = dice.oneIn(2);
  const auto made = GraphMaker(seed, {.smooth = smooth, .bodies = 3}).make(4 + dice.below(20));
  if (made == nullptr) return "the network could not be made";
  auto prepared = prepareModel(*made);
  if (!prepared.ok()) return prepared.error().text();
  auto model = std::make_shared<const Model>(std::move(prepared).value());
  ++counts.networks;
  counts.bodies += static_cast<int>(bodiesIn(*model));
  auto again = writtenAndRead(*model->graph, folder);
  if (!again.ok()) return again.error().text();
  const auto inputs = randomInputs(*model->graph, dice);
  const auto wanted = runNodes(*model->graph, inputs), given = runNodes(*again.value()->graph, inputs);
  if (!wanted.ok() || !given.ok()) return (wanted.ok() ? given : wanted).error().text();
  for (const auto& [name, tensor] : wanted.value())
    if (!given.value().contains(name) || !given.value().at(name).identical(tensor)) return "other numbers of " + name;
  // In a file a body names what it captures as the graph around it does, in the order in which it reads it, and an
  // Identity makes what it hands on: so it is from the second reading on.
  for (int round = 0; round < 2; ++round) {
    model = again.value();
    again = writtenAndRead(*model->graph, folder);
    if (!again.ok()) return again.error().text();
  }
  const auto plan = makePlan(model, {.target = "cpu"}), planAgain = makePlan(again.value(), {.target = "cpu"});
  if (!plan.ok() || !planAgain.ok()) return (plan.ok() ? planAgain : plan).error().text();
  const std::string was = textOf(*plan.value()), is = textOf(*planAgain.value());
  if (was == is) return {};
  std::istringstream before(was), after(is);
  for (std::string wasLine, isLine; std::getline(before, wasLine);)
    if (!std::getline(after, isLine) || isLine != wasLine) return "not '" + wasLine + "' but '" + isLine + "'";
  return "there is more";
}

TEST(PropertyBodies, WrittenAndReadAgainHaveTheSamePlan) {
  const Seeds seeds = Seeds::asked(150);
  const test::TemporaryFolder folder;
  Counts counts;
  seeds.run([&](std::uint64_t seed) { return checkWritten(seed, counts, folder); });
  fmt::print("{} networks with {} bodies, written and read\n", counts.networks, counts.bodies);
  if (seeds.cases >= 150) {
    EXPECT_GT(counts.bodies, 150);
  }
}

TEST(PropertyBodies, RunAsTheirNodesDoAndTakeDirectives) {
  const Seeds seeds = Seeds::asked(300);
  Counts counts;
  seeds.run([&](std::uint64_t seed) { return check(seed, counts); });
  fmt::print("{} networks with {} bodies, {} of them with plans of their own; {} directives inside, {} runs\n",
             counts.networks, counts.bodies, counts.planned, counts.pins, counts.runs);
  if (seeds.cases < 300) return;
  EXPECT_GT(counts.bodies, 300);
  EXPECT_GT(counts.planned, 200);
  EXPECT_GT(counts.pins, 50);
}

}  // namespace
}  // namespace fusescope::property
