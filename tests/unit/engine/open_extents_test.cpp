// Engines of plans that take open extents to be equal, at extents that are and at extents that are not.
#include <algorithm>

#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

class OpenExtents : public ::testing::TestWithParam<const char*> {
 protected:
  BuildOptions options() const { return {.backend = GetParam(), .threads = 1, .measureTactics = false}; }
};
INSTANTIATE_TEST_SUITE_P(Backends, OpenExtents, ::testing::Values("reference", "native"),
                         [](const auto& info) { return std::string(info.param); });

/// relu(x + y) · y of x [h, 2] and y [w, 2].
std::shared_ptr<const Plan> joiningPlan() {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({Dim::named("h"), 2})),
                y = editor.addInput("y", f32({Dim::named("w"), 2}));
  const ValueId sum = editor.addValue("sum", f32({Dim(), 2})), relu = editor.addValue("relu", f32({Dim(), 2}));
  const ValueId z = editor.addValue("z", f32({Dim(), 2}));
  editor.addNode({.op = "Add", .name = "join", .inputs = {x, y}, .outputs = {sum}});
  editor.addNode({.op = "Relu", .name = "clip", .inputs = {sum}, .outputs = {relu}});
  editor.addNode({.op = "Mul", .name = "scale", .inputs = {relu, y}, .outputs = {z}});
  editor.addOutput(z);
  return planOf(modelOf(editor));
}

std::vector<const Decision*> failedConditions(const Engine& engine) {
  std::vector<const Decision*> found;
  for (const Decision& decision : engine.report().decisions)
    if (decision.code == "build.condition_failed") found.push_back(&decision);
  return found;
}

const Tensor kX = floats({2, 2}, {1, -4, 3, 4});

void expectBoth(Engine& engine) {
  const auto equal = engine.run({{"x", kX}, {"y", floats({2, 2}, {1, 2, -5, 1})}});
  ASSERT_TRUE(equal.ok()) << equal.error().text();
  EXPECT_TRUE(equal.value().outputs.at("z").identical(floats({2, 2}, {2, 0, -0.0F, 5})));
  EXPECT_TRUE(failedConditions(engine).empty());
  for (int i = 0; i < 2; ++i) {
    const auto one = engine.run({{"x", kX}, {"y", floats({1, 2}, {1, 2})}}, {"all"});
    ASSERT_TRUE(one.ok()) << one.error().text();
    EXPECT_TRUE(one.value().outputs.at("z").identical(floats({2, 2}, {2, 0, 4, 12})));
  }
  const auto failed = failedConditions(engine);
  ASSERT_EQ(failed.size(), 1U) << "a plan for these extents is made once";
  EXPECT_EQ(failed[0]->arguments["condition"], "w == h");
  const auto again = engine.run({{"x", kX}, {"y", floats({2, 2}, {1, 2, -5, 1})}});
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_TRUE(again.value().outputs.at("z").identical(floats({2, 2}, {2, 0, -0.0F, 5})));
}

TEST_P(OpenExtents, APlanOfTheirOwnRunsThoseThatBreakACondition) {
  const auto plan = joiningPlan();
  ASSERT_EQ(plan->model->conditions.size(), 1U);
  EXPECT_EQ(plan->fusedNodes.size(), 1U);
  expectBoth(*engineOf(plan, options()));
}

TEST_P(OpenExtents, AnEngineFileKeepsTheConditions) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "joined.fse";
  ASSERT_TRUE(engineOf(joiningPlan(), options())->save(path).ok());
  auto engine = loadEngine(path, options());
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  EXPECT_EQ(engine.value()->plan().model->conditions.size(), 1U);
  expectBoth(*engine.value());
}

TEST_P(OpenExtents, AnEngineCanBeBuiltForExtentsThatBreakACondition) {
  BuildOptions other = options();
  other.shapes = {{"x", {3, 2}}, {"y", {1, 2}}};
  const auto engine = engineOf(joiningPlan(), other);
  EXPECT_EQ(failedConditions(*engine).size(), 1U);
  const auto equal = engine->run({{"x", kX}, {"y", floats({2, 2}, {1, 2, -5, 1})}});
  ASSERT_TRUE(equal.ok()) << equal.error().text();
  EXPECT_TRUE(equal.value().outputs.at("z").identical(floats({2, 2}, {2, 0, -0.0F, 5})));
}

/// Two halvings, rounded up, of x [1, 1, h, 1]; the second, twice over, beside the first.
std::shared_ptr<const Plan> halvingPlan() {
  GraphEditor editor;
  const auto open = [] { return f32({1, Dim(), Dim(), 1}); };
  const ValueId x = editor.addInput("x", f32({1, 1, Dim::named("h"), 1})), half = editor.addValue("half", open()),
                quarter = editor.addValue("quarter", open()), twice = editor.addValue("twice", open()),
                y = editor.addValue("y", open());
  const std::map<std::string, Attribute> halving{{"kernel_shape", std::vector<std::int64_t>{2, 1}},
                                                 {"strides", std::vector<std::int64_t>{2, 1}},
                                                 {"ceil_mode", std::int64_t{1}}};
  editor.addNode({.op = "MaxPool", .name = "first", .inputs = {x}, .outputs = {half}, .attributes = halving});
  editor.addNode({.op = "MaxPool", .name = "second", .inputs = {half}, .outputs = {quarter}, .attributes = halving});
  const auto along = [](std::int64_t axis) { return std::map<std::string, Attribute>{{"axis", axis}}; };
  editor.addNode(
      {.op = "Concat", .name = "double", .inputs = {quarter, quarter}, .outputs = {twice}, .attributes = along(2)});
  editor.addNode({.op = "Concat", .name = "beside", .inputs = {half, twice}, .outputs = {y}, .attributes = along(1)});
  editor.addOutput(y);
  return planOf(modelOf(editor));
}

/// What the plan takes to be demanded is more than the nodes check at extents that are known.
TEST_P(OpenExtents, ADemandRefusesOnlyWhatTheNetworkCannotRun) {
  BuildOptions ofFour = options();
  ofFour.shapes = {{"x", {1, 1, 4, 1}}};
  const auto engine = engineOf(halvingPlan(), ofFour);
  const auto isOfMultiples = [](const ExtentCondition& condition) { return condition.text() == "h % 4 == 0"; };
  ASSERT_TRUE(std::ranges::any_of(engine->plan().model->conditions, isOfMultiples));
  const auto four = engine->run({{"x", floats({1, 1, 4, 1}, {1, 2, 4, 3})}});
  ASSERT_TRUE(four.ok()) << four.error().text();
  EXPECT_TRUE(four.value().outputs.at("y").identical(floats({1, 2, 2, 1}, {2, 4, 4, 4})));
  const auto three = engine->run({{"x", floats({1, 1, 3, 1}, {1, 2, 3})}});
  ASSERT_TRUE(three.ok()) << three.error().text();
  EXPECT_TRUE(three.value().outputs.at("y").identical(floats({1, 2, 2, 1}, {2, 3, 3, 3})));
  const auto six = engine->run({{"x", noise({1, 1, 6, 1}, 1)}});
  ASSERT_FALSE(six.ok());
  EXPECT_EQ(six.error().where.node, "beside");
  for (const char* part : {"h % 4 == 0", "x [1, 1, 6, 1]", "must be equal"})
    EXPECT_NE(six.error().message.find(part), std::string::npos) << six.error().message;
}

/// x [n, k] · w [m, 3].
std::shared_ptr<const Plan> productPlan() {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({Dim::named("n"), Dim::named("k")}));
  const ValueId w = editor.addInput("w", f32({Dim::named("m"), 3}));
  const ValueId y = editor.addValue("y", f32({Dim(), 3}));
  editor.addNode({.op = "MatMul", .name = "dot", .inputs = {x, w}, .outputs = {y}});
  editor.addOutput(y);
  return planOf(modelOf(editor));
}

void expectRefused(Engine& engine) {
  EXPECT_TRUE(engine.run({{"x", noise({2, 4}, 1)}, {"w", noise({4, 3}, 2)}}).ok());
  const auto refused = engine.run({{"x", noise({2, 5}, 1)}, {"w", noise({4, 3}, 2)}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().where.node, "dot");
  EXPECT_EQ(refused.error().message.rfind("is known to work where m == k, which is not so for x [2, 5], w [4, 3]: ", 0),
            0U)
      << refused.error().message;
  EXPECT_TRUE(failedConditions(engine).empty()) << "no plan of its own can run it";
}

TEST_P(OpenExtents, WhatBreaksADemandIsRefusedByTheNamesOfItsInputs) {
  expectRefused(*engineOf(productPlan(), options()));
}

TEST_P(OpenExtents, AnEngineFileKeepsTheDemands) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "product.fse";
  ASSERT_TRUE(engineOf(productPlan(), options())->save(path).ok());
  auto engine = loadEngine(path, options());
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  expectRefused(*engine.value());
}

}  // namespace
}  // namespace fusescope::testing
