// If, Loop and Scan by the plans of their bodies, against the reference evaluator.
#include <algorithm>
#include <cmath>

#include "ops/support/graph_evaluator.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

using Inputs = std::map<std::string, Tensor>;

Tensor truth(bool value) {
  return Tensor::ofInt64({value ? 1 : 0}).reshaped({}).converted(DataType::Bool);
}
Tensor number(std::int64_t value) {
  return Tensor::ofInt64({value}).reshaped({});
}

class Bodies : public ::testing::TestWithParam<const char*> {
 protected:
  BuildOptions options() const { return {.backend = GetParam(), .threads = 2, .measureTactics = false}; }

  /// Runs `engine` on `inputs` and compares every output with what the reference evaluator makes of the graph.
  static void agrees(Engine& engine, const Inputs& inputs) {
    const Graph& graph = engine.plan().graph();
    std::vector<const Tensor*> given;
    for (const ValueId input : graph.inputs()) given.push_back(&inputs.at(graph.value(input).name));
    const auto expected = ops::GraphEvaluator(graph).run(given);
    ASSERT_TRUE(expected.ok()) << expected.error().text();
    const auto result = engine.run(inputs);
    ASSERT_TRUE(result.ok()) << result.error().text();
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
      const Tensor& wanted = expected.value()[i];
      const Tensor& got = result.value().outputs.at(graph.value(graph.outputs()[i]).name);
      ASSERT_EQ(got.dims(), wanted.dims()) << "output " << i;
      ASSERT_EQ(got.type(), wanted.type()) << "output " << i;
      for (std::int64_t k = 0; k < wanted.count(); ++k)
        ASSERT_NEAR(got.asDouble(k), wanted.asDouble(k), 1e-5 * (1 + std::abs(wanted.asDouble(k)))) << i << " at " << k;
    }
  }

  /// The tactic by which a fused node runs.
  static std::string stepOf(Engine& engine, const Inputs& inputs, const std::string& node) {
    const auto report = engine.time(inputs, {.seconds = 0, .warmupSeconds = 0, .perLayer = true});
    if (!report.ok()) return report.error().text();
    for (const StepTime& layer : report.value().layers)
      if (layer.name == node) return layer.tactic;
    return "no such step";
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, Bodies, ::testing::Values("reference", "native"),
                         [](const auto& info) { return std::string(info.param); });

constexpr const char* kBranches = R"(
  input %c: bool[]
  input %x: f32[2, 8]
  const %w: f32[8, 8] = dense
  %d: f32[2, 8] = Exp(%x) {name="exp"}
  %y: f32[2, 8], %p: f32[2, 8] = If(%c) <else_branch=body (%x) graph "e" {
      input %x: f32[2, 8]
      %n: f32[2, 8] = Neg(%x) {name="neg"}
      output %n
      output %x },
    then_branch=body (%d, %w) graph "t" {
      input %d: f32[2, 8]
      input %w: f32[8, 8]
      %m: f32[2, 8] = MatMul(%d, %w) {name="mm"}
      %r: f32[2, 8] = Relu(%m) {name="relu"}
      output %r
      output %m }> {name="the_if"}
  %z: f32[2, 8] = Add(%y, %p) {name="sum"}
  output %z
  output %p
)";

/// Weights of text are without data: these are.
std::shared_ptr<const Model> branches() {
  std::string text = kBranches;
  const std::string weight = "const %w: f32[8, 8] = dense";
  text.replace(text.find(weight), weight.size(), "input %w: f32[8, 8]");
  return modelOfText(text);
}

TEST_P(Bodies, TheBranchThatIsTakenRuns) {
  auto engine = engineOf(planOf(branches()), options());
  const Inputs inputs{{"c", truth(true)}, {"x", noise({2, 8}, 1)}, {"w", noise({8, 8}, 2)}};
  agrees(*engine, inputs);
  Inputs others = inputs;
  others["c"] = truth(false);
  agrees(*engine, others);
  agrees(*engine, inputs);
  EXPECT_EQ(stepOf(*engine, inputs, "the_if"), "bodies");
}

TEST_P(Bodies, AnEngineFileKeepsTheirPlansAndTactics) {
  const TemporaryFolder folder;
  const auto plan = planOf(branches(), {.directives = {parsePin("the_if/mm=f32:obey").value()}});
  auto built = engineOf(plan, options());
  ASSERT_TRUE(built->save(folder / "if.fse").ok());
  auto engine = loadEngine(folder / "if.fse", options());
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  EXPECT_EQ(engine.value()->plan().bodies.size(), 2U);
  for (const Decision& decision : engine.value()->plan().decisions) EXPECT_NE(decision.code, "build.replanned");
  const auto& tactics = engine.value()->report().tactics;
  EXPECT_TRUE(std::ranges::any_of(
      tactics, [](const TacticChoice& choice) { return choice.fusedNode.starts_with("the_if/then_branch/mm"); }));
  agrees(*engine.value(), {{"c", truth(true)}, {"x", noise({2, 8}, 1)}, {"w", noise({8, 8}, 2)}});
}

TEST_P(Bodies, BranchesOfOtherExtentsAreToldApartAtRunTime) {
  auto engine = engineOf(planOf(modelOfText(R"(
    input %c: bool[]
    input %x: f32[2, 3]
    %y: f32[...] = If(%c) <else_branch=body (%x) graph "e" { input %x: f32[2, 3]
        const %all: int64[1] = [-1]
        %f: f32[6] = Reshape(%x, %all) {name="flat"}
        %g: f32[6] = Neg(%f) {name="neg"}
        output %g },
      then_branch=body (%x) graph "t" { input %x: f32[2, 3]
        %t: f32[3, 2] = Transpose(%x) <perm=[1, 0]> {name="turn"}
        output %t }> {name="the_if"}
    %z: f32[...] = Exp(%y) {name="exp"}
    output %z)")),
                         options());
  for (const bool condition : {true, false, true}) agrees(*engine, {{"c", truth(condition)}, {"x", noise({2, 3}, 3)}});
}

constexpr const char* kLoop = R"(
  input %m: int64[]
  input %go: bool[]
  input %a: f32[4, 4]
  input %b: f32[4, 4]
  input %k: f32[4, 4]
  %y: f32[4, 4], %p: f32[4, 4], %q: f32[4, 4], %s: f32[4, 4] = Loop(%m, %go, %a, %b, %k, %a) <body=body (%k) graph "body" {
      input %i: int64[]
      input %on: bool[]
      input %u: f32[4, 4]
      input %v: f32[4, 4]
      input %stays: f32[4, 4]
      input %first: f32[4, 4]
      input %k: f32[4, 4]
      const %half: f32[] = [0.5]
      %n: f32[4, 4] = MatMul(%v, %k) {name="mm"}
      %h: f32[4, 4] = Mul(%n, %half) {name="half"}
      %o: bool[] = Identity(%on) {name="pass"}
      output %o
      output %v
      output %h
      output %stays
      output %k }> {name="loop"}
  output %y
  output %p
  output %q
  output %s
)";

TEST_P(Bodies, CarriedValuesChangePlacesAndStay) {
  auto engine = engineOf(planOf(modelOfText(kLoop)), options());
  for (const std::int64_t trips : {0, 1, 2, 3, 8}) {
    SCOPED_TRACE(trips);
    agrees(*engine, {{"m", number(trips)},
                     {"go", truth(true)},
                     {"a", noise({4, 4}, 1)},
                     {"b", noise({4, 4}, 2)},
                     {"k", noise({4, 4}, 3)}});
  }
  agrees(*engine, {{"m", number(5)},
                   {"go", truth(false)},
                   {"a", noise({4, 4}, 1)},
                   {"b", noise({4, 4}, 2)},
                   {"k", noise({4, 4}, 3)}});
}

TEST_P(Bodies, ALoopEndsByItsConditionAndCollects) {
  auto engine = engineOf(planOf(modelOfText(R"(
    input %a: f32[3]
    %y: f32[3], %all: f32[n, 3], %twice: f32[n, 3] = Loop(_, _, %a) <body=body graph "body" {
        input %i: int64[]
        input %on: bool[]
        input %u: f32[3]
        const %last: int64[] = [4]
        const %two: f32[] = [2]
        %o: bool[] = Less(%i, %last) {name="less"}
        %v: f32[3] = Mul(%u, %two) {name="double"}
        %w: f32[3] = Add(%v, %u) {name="sum"}
        output %o
        output %v
        output %w
        output %v }> {name="loop"}
    output %y
    output %all
    output %twice)")),
                         options());
  agrees(*engine, {{"a", floats({3}, {1, 2, 3})}});
  agrees(*engine, {{"a", floats({3}, {-1, 0, 5})}});
}

TEST_P(Bodies, WhatGrowsInALoopIsFollowed) {
  auto engine = engineOf(planOf(modelOfText(R"(
    input %m: int64[]
    input %a: f32[1, 2]
    input %tenth: f32[]
    %y: f32[k, 2] = Loop(%m, _, %a) <body=body (%tenth) graph "body" {
        input %i: int64[]
        input %on: bool[]
        input %u: f32[j, 2]
        input %tenth: f32[]
        %v: f32[...] = Concat(%u, %u) <axis=0> {name="join"}
        %w: f32[...] = Exp(%v) {name="exp"}
        %t: f32[...] = Mul(%w, %tenth) {name="scale"}
        output %on
        output %t }> {name="loop"}
    output %y)")),
                         options());
  for (const std::int64_t trips : {0, 1, 7, 2})
    agrees(*engine, {{"m", number(trips)}, {"a", floats({1, 2}, {1, 2})}, {"tenth", Tensor::scalar(0.1F)}});
}

TEST_P(Bodies, AConditionOfManyElementsIsAnError) {
  auto engine = engineOf(planOf(modelOfText(R"(
    input %a: f32[300]
    input %m: int64[]
    %y: f32[300] = Loop(%m, _, %a) <body=body graph "body" {
        input %i: int64[]
        input %on: bool[]
        input %u: f32[300]
        %v: f32[300] = Exp(%u) {name="exp"}
        %o: bool[300] = Less(%u, %v) {name="less"}
        output %o
        output %v }> {name="loop"}
    output %y)")),
                         options());
  const auto result = engine->run({{"a", noise({300}, 1)}, {"m", number(3)}});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("single bool"), std::string::npos) << result.error().text();
}

TEST_P(Bodies, AScanWalksAlongItsAxesInBothDirections) {
  auto engine = engineOf(planOf(modelOfText(R"(
    input %s: f32[2]
    input %x: f32[5, 2]
    input %z: f32[2, 5]
    input %k: f32[2]
    %last: f32[2], %rows: f32[5, 2], %columns: f32[2, 5] = Scan(%s, %x, %z) <body=body (%k) graph "body" {
        input %u: f32[2]
        input %a: f32[2]
        input %b: f32[2]
        input %k: f32[2]
        %p: f32[2] = Add(%u, %a) {name="add"}
        %q: f32[2] = Mul(%p, %b) {name="mul"}
        %r: f32[2] = Sub(%q, %k) {name="sub"}
        output %p
        output %q
        output %r }, num_scan_inputs=2, scan_input_axes=[0, -1], scan_input_directions=[0, 1],
        scan_output_axes=[0, 1], scan_output_directions=[1, 0]> {name="scan"}
    output %last
    output %rows
    output %columns)")),
                         options());
  const Inputs inputs{{"s", noise({2}, 1)}, {"x", noise({5, 2}, 2)}, {"z", noise({2, 5}, 3)}, {"k", noise({2}, 4)}};
  agrees(*engine, inputs);
  EXPECT_EQ(stepOf(*engine, inputs, "scan"), "bodies");
}

TEST_P(Bodies, AResultMayBeAViewOfAnother) {
  auto engine = engineOf(planOf(modelOfText(R"(
    input %c: bool[]
    input %s: f32[2]
    input %x: f32[5, 2]
    const %flat: int64[2] = [1, 2]
    %last: f32[2], %all: f32[5, 1, 2] = Scan(%s, %x) <body=body (%flat) graph "body" {
        input %u: f32[2]
        input %a: f32[2]
        input %flat: int64[2]
        %p: f32[2] = Add(%u, %a) {name="add"}
        %q: f32[1, 2] = Reshape(%p, %flat) {name="view"}
        output %p
        output %q }, num_scan_inputs=1> {name="scan"}
    %one: f32[2], %two: f32[1, 2] = If(%c) <else_branch=body (%s, %flat) graph "e" {
        input %s: f32[2]
        input %flat: int64[2]
        %n: f32[2] = Neg(%s) {name="neg"}
        %v: f32[1, 2] = Reshape(%n, %flat) {name="else_view"}
        output %n
        output %v },
      then_branch=body (%s, %flat) graph "t" {
        input %s: f32[2]
        input %flat: int64[2]
        %r: f32[1, 2] = Reshape(%s, %flat) {name="then_view"}
        output %s
        output %r }> {name="the_if"}
    output %last
    output %all
    output %one
    output %two)")),
                         options());
  for (const bool taken : {true, false})
    agrees(*engine, {{"c", truth(taken)}, {"s", noise({2}, 1)}, {"x", noise({5, 2}, 2)}});
}

TEST_P(Bodies, InBodiesAtOpenExtents) {
  auto engine = engineOf(planOf(modelOfText(R"(
    input %m: int64[]
    input %c: bool[]
    input %x: f32[n, 4]
    %y: f32[n, 4] = Loop(%m, _, %x) <body=body (%c, %x) graph "body" {
        input %i: int64[]
        input %on: bool[]
        input %u: f32[n, 4]
        input %c: bool[]
        input %x: f32[n, 4]
        %v: f32[n, 4] = If(%c) <else_branch=body (%u) graph "e" { input %u: f32[n, 4]
            %e: f32[n, 4] = Neg(%u) {name="neg"}
            output %e },
          then_branch=body (%u, %x) graph "t" { input %u: f32[n, 4]
            input %x: f32[n, 4]
            %t: f32[n, 4] = Add(%u, %x) {name="add"}
            %r: f32[n, 4] = Relu(%t) {name="relu"}
            output %r }> {name="in"}
        output %on
        output %v }> {name="loop"}
    output %y)")),
                         options());
  for (const std::int64_t rows : {2, 5, 2, 1})
    for (const bool condition : {true, false})
      agrees(*engine, {{"m", number(3)}, {"c", truth(condition)}, {"x", noise({rows, 4}, 7)}});
}

TEST_P(Bodies, RoundWhatTheyLowerAsTheReferenceDoes) {
  const auto plan = planOf(branches(), {.precisions = {DataType::F16}});
  auto engine = engineOf(plan, options());
  auto reference = engineOf(plan, {.backend = "reference", .threads = 1});
  const Inputs inputs{{"c", truth(true)}, {"x", noise({2, 8}, 1)}, {"w", noise({8, 8}, 2)}};
  const auto got = engine->run(inputs), wanted = reference->run(inputs);
  ASSERT_TRUE(got.ok() && wanted.ok());
  for (const auto& [name, tensor] : wanted.value().outputs)
    for (std::int64_t k = 0; k < tensor.count(); ++k)
      EXPECT_NEAR(got.value().outputs.at(name).asDouble(k), tensor.asDouble(k), 2e-3) << name;
  const auto exact = engineOf(planOf(branches()), options())->run(inputs);
  EXPECT_FALSE(exact.value().outputs.at("z").identical(wanted.value().outputs.at("z"))) << "nothing was lowered";
}

TEST_P(Bodies, AnErrorInsideSaysWhere) {
  auto engine = engineOf(planOf(modelOfText(R"(
    input %c: bool[]
    input %i: int64[1]
    input %x: f32[3]
    %y: f32[1] = If(%c) <else_branch=body (%x, %i) graph "e" { input %x: f32[3]
        input %i: int64[1]
        %e: f32[1] = Gather(%x, %i) {name="pick"}
        output %e },
      then_branch=body (%x, %i) graph "t" { input %x: f32[3]
        input %i: int64[1]
        %s: f32[1] = Gather(%x, %i) {name="pick"}
        %t: f32[1] = Exp(%s) {name="exp"}
        output %t }> {name="the_if"}
    output %y)")),
                         options());
  const auto result = engine->run({{"c", truth(false)}, {"i", Tensor::ofInt64({7})}, {"x", floats({3}, {1, 2, 3})}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().where.node, "the_if/else_branch/pick") << result.error().text();
}

/// Of a node with bodies in a report.
const StepTime* timeOf(const std::vector<StepTime>& layers, const std::string& name) {
  const auto found = std::ranges::find(layers, name, &StepTime::name);
  return found == layers.end() ? nullptr : &*found;
}

double sumOf(const std::vector<StepTime>& layers) {
  double sum = 0;
  for (const StepTime& layer : layers) sum += layer.medianMs.value_or(0);
  return sum;
}

TEST_P(Bodies, TellWhatTheirStepsTake) {
  const auto engine = engineOf(planOf(branches()), options());
  for (const bool taken : {true, false}) {
    const Inputs inputs{{"c", truth(taken)}, {"x", noise({2, 8}, 1)}, {"w", noise({8, 8}, 2)}};
    const auto report = engine->time(inputs, {.seconds = 0.05, .warmupSeconds = 0, .perLayer = true});
    ASSERT_TRUE(report.ok()) << report.error().text();
    const StepTime* holder = timeOf(report.value().layers, "the_if");
    ASSERT_NE(holder, nullptr);
    ASSERT_EQ(holder->bodies.size(), 2U);
    EXPECT_EQ(holder->bodies[0].attribute, "else_branch");
    EXPECT_EQ(holder->bodies[0].calls, taken ? 0 : 1);
    EXPECT_EQ(holder->bodies[1].calls, taken ? 1 : 0);
    const BodyTimes& ran = holder->bodies[taken ? 1 : 0];
    EXPECT_TRUE(holder->bodies[taken ? 0 : 1].steps.empty()) << "nothing is said of what did not run";
    ASSERT_FALSE(ran.steps.empty());
    EXPECT_GT(sumOf(ran.steps), 0);
    for (const StepTime& layer : report.value().layers) EXPECT_TRUE(&layer == holder || layer.bodies.empty());
  }
}

TEST_P(Bodies, OfBodiesTellToo) {
  const auto engine = engineOf(planOf(modelOfText(R"(
  input %c: bool[]
  input %s: f32[512]
  const %n: int64[] = [4]
  %y: f32[512] = Loop(%n, _, %s) <body=body (%c) graph "b" {
      input %i: int64[]
      input %go: bool[]
      input %u: f32[512]
      input %c: bool[]
      %v: f32[512] = If(%c) <else_branch=body (%u) graph "e" {
          input %u: f32[512]
          %q: f32[512] = Neg(%u) {name="neg"}
          output %q },
        then_branch=body (%u) graph "t" {
          input %u: f32[512]
          %p: f32[512] = Softmax(%u) {name="soft"}
          output %p }> {name="in"}
      %w: f32[512] = Softmax(%v) {name="more"}
      %o: bool[] = Identity(%go) {name="pass"}
      output %o
      output %w }> {name="loop"}
  output %y)")),
                               options());
  const Inputs inputs{{"c", truth(true)}, {"s", noise({512}, 2)}};
  const auto report = engine->time(inputs, {.seconds = 0.1, .warmupSeconds = 0.01, .perLayer = true});
  ASSERT_TRUE(report.ok()) << report.error().text();
  const StepTime* loop = timeOf(report.value().layers, "loop");
  ASSERT_NE(loop, nullptr);
  ASSERT_EQ(loop->bodies.size(), 1U);
  EXPECT_EQ(loop->bodies[0].calls, 4);
  const StepTime* inner = timeOf(loop->bodies[0].steps, "in");
  ASSERT_NE(inner, nullptr);
  ASSERT_EQ(inner->bodies.size(), 2U);
  EXPECT_EQ(inner->bodies[0].calls, 0);
  EXPECT_EQ(inner->bodies[1].calls, 4) << "once in each iteration";
  ASSERT_NE(timeOf(inner->bodies[1].steps, "soft"), nullptr);
  EXPECT_NE(timeOf(loop->bodies[0].steps, "more"), nullptr);
  // What is told of parts and of the whole is a mean over the same runs, and the clocks of the parts are within it.
  EXPECT_LE(sumOf(inner->bodies[1].steps), *inner->medianMs);
  EXPECT_LE(sumOf(loop->bodies[0].steps), *loop->medianMs);
  EXPECT_GT(sumOf(loop->bodies[0].steps), 0);
}

}  // namespace
}  // namespace fusescope::testing
