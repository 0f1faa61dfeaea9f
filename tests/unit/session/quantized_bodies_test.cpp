// Bodies of If, Loop and Scan are calibrated over all their iterations, and quantised like the graph around them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/engine.h"
#include "ir/graph.h"
#include "planning/plan_json.h"
#include "session/artifact.h"
#include "session/calibrate.h"
#include "session/inputs/random_inputs.h"
#include "session/open_model.h"
#include "tests/support/paths.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

/// "{v, v, …}": small numbers that differ.
std::string filling(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + std::to_string(0.01 * ((i * 37) % 41 - 20));
  return text + "}";
}

/// Four times x ← relu(x · w) + x, then once more behind the loop.
std::string looping() {
  return "g (float[2, 16] x) => (float[2, 16] y) <int64 trips = {4}, bool go = {1}, float[16, 16] w = " + filling(256) +
         "> { [loop] l = Loop (trips, go, x) <body = b (int64 i, bool c, float[2, 16] h) => (bool d, float[2, 16] n) {"
         " d = Identity (c) [mm] q = MatMul (h, w) [relu] r = Relu (q) [sum] n = Add (r, h) }>"
         " [last] y = MatMul (l, w) }";
}

/// Both branches read what they capture, and give their values the same names.
std::string quantizedBranches() {
  return "g (bool c, float[2, 16] x) => (float[2, 16] y) <float[16, 16] w = " + filling(256) +
         "> { [if] y = If (c) <then_branch = t () => (float[2, 16] o) { [wide] k = Add (x, x) [mm] o = MatMul (k, w) },"
         " else_branch = e () => (float[2, 16] p) { [neg] k = Neg (x) [mm2] p = MatMul (k, w) }> }";
}

std::string scanning() {
  return "g (float[2, 16] start, float[5, 2, 16] xs) => (float[2, 16] y, float[5, 2, 16] ys) <float[16, 16] w = " +
         filling(256) +
         "> { [scan] y, ys = Scan <num_scan_inputs = 1, body = b (float[2, 16] s, float[2, 16] e) => (float[2, 16] n, "
         "float[2, 16] o) { [mm] q = MatMul (e, w) [sum] n = Add (s, q) [relu] o = Relu (q) }> (start, xs) }";
}

class QuantizedBodies : public ::testing::Test {
 protected:
  void open(const std::string& graph, int count = 3) {
    model = openModel(m_folder.write("model.onnx", onnxBytes(graph))).value();
    floats = makePlan(model, {.target = "cpu"}).value();
    for (int i = 0; i < count; ++i)
      samples.list.push_back({.name = "s" + std::to_string(i), .inputs = randomInputs(*floats)});
  }

  std::shared_ptr<const Ranges> calibrated(CalibrateOptions options = {}) {
    auto ranges = calibrate(*floats, samples, options);
    EXPECT_TRUE(ranges.ok()) << ranges.error().text();
    return std::make_shared<const Ranges>(std::move(ranges).value());
  }

  std::shared_ptr<const Plan> quantised(std::shared_ptr<const Ranges> ranges, const Directives& directives = {}) {
    PlanOptions options{.target = "cpu", .precisions = {DataType::I8}, .directives = directives};
    options.ranges = std::move(ranges);
    const auto plan = makePlan(model, options);
    EXPECT_TRUE(plan.ok()) << plan.error().text();
    if (plan.ok()) {
      EXPECT_TRUE(verifyPlan(*plan.value()).ok());
    }
    return plan.ok() ? plan.value() : nullptr;
  }

  static std::int64_t integerProducts(const Plan& plan) {
    std::int64_t count =
        std::ranges::count_if(plan.fusedNodes, [](const FusedNode& fused) { return fused.compute == DataType::I8; });
    for (const CoverBody& body : plan.bodies) count += integerProducts(plannedBody(body));
    return count;
  }

  Tensor outputOf(const std::shared_ptr<const Plan>& plan, const std::string& backend, const std::string& name = "y") {
    auto engine = buildEngine(plan, {.backend = backend, .measureTactics = false});
    EXPECT_TRUE(engine.ok()) << engine.error().text();
    const auto result = engine.value()->run(samples.first());
    EXPECT_TRUE(result.ok()) << result.error().text();
    return result.value().outputs.at(name);
  }

  /// rms of the error over rms of float32.
  double relative(const std::shared_ptr<const Plan>& plan, const std::string& backend) {
    const Tensor exact = outputOf(floats, "reference"), actual = outputOf(plan, backend);
    double squares = 0, errors = 0;
    for (std::int64_t i = 0; i < exact.count(); ++i) {
      squares += std::pow(exact.asDouble(i), 2);
      errors += std::pow(exact.asDouble(i) - actual.asDouble(i), 2);
    }
    return std::sqrt(errors / squares);
  }

  const TemporaryFolder m_folder;
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Plan> floats;
  Samples samples;
};

TEST_F(QuantizedBodies, RangesAreOfAllIterations) {
  open(looping());
  const auto ranges = calibrated();
  ASSERT_TRUE(ranges->edges.contains("loop/h"));
  const EdgeRange &carried = ranges->edges.at("loop/h"), &outside = ranges->edges.at("x");
  EXPECT_EQ(carried.histogram->count(), 3 * 4 * 32) << "3 samples, 4 iterations";
  EXPECT_EQ(outside.histogram->count(), 3 * 32);
  EXPECT_GE(carried.range.high, outside.range.high) << "the first iteration reads x";
  EXPECT_TRUE(ranges->edges.contains("loop/r") || ranges->edges.contains("loop/n"));
  EXPECT_TRUE(ranges->weights.contains("loop/w"));
  EXPECT_TRUE(ranges->channels.contains("loop/h"));
}

TEST_F(QuantizedBodies, ALoopMultipliesIntegersInEveryIteration) {
  open(looping());
  const auto plan = quantised(calibrated());
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(integerProducts(*plan), 2) << "in the loop, and behind it";
  for (const char* backend : {"reference", "native"}) {
    EXPECT_LT(relative(plan, backend), 0.03) << backend;
    EXPECT_GT(relative(plan, backend), 1e-5) << "nothing was rounded";
  }
}

TEST_F(QuantizedBodies, BranchesThatShareNamesHaveRangesOfTheirOwn) {
  open(quantizedBranches(), 8);
  for (std::size_t i = 0; i < samples.list.size(); ++i)  // both are taken
    samples.list[i].inputs.at("c") =
        Tensor::ofInt64({static_cast<std::int64_t>(i % 2)}).reshaped({}).converted(DataType::Bool);
  const auto ranges = calibrated();
  for (const char* value : {"if/then_branch/k", "if/else_branch/k"})
    EXPECT_EQ(ranges->edges.at(value).histogram->count(), 4 * 32) << value;
  const auto plan = quantised(ranges);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(integerProducts(*plan), 2) << "one in each branch";
  EXPECT_LT(relative(plan, "native"), 0.03);
}

TEST_F(QuantizedBodies, AScanIsQuantisedToo) {
  open(scanning());
  const auto ranges = calibrated();
  EXPECT_EQ(ranges->edges.at("scan/e").histogram->count(), 3 * 5 * 32) << "every slice";
  const auto plan = quantised(ranges);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(integerProducts(*plan), 1);
  for (const char* backend : {"reference", "native"}) EXPECT_LT(relative(plan, backend), 0.03) << backend;
}

TEST_F(QuantizedBodies, PinsAndExclusionsReachIntoThem) {
  open(looping());
  const auto ranges = calibrated();
  EXPECT_EQ(integerProducts(*quantised(ranges, {parsePin("loop/mm=f32:obey").value()})), 1);
  EXPECT_EQ(integerProducts(*quantised(calibrated({.settings = {.exclude = {"loop/mm"}}}))), 1);
  EXPECT_EQ(integerProducts(*quantised(calibrated({.settings = {.exclude = {"last"}}}))), 1);
  PlanOptions alone{.target = "cpu"};
  alone.ranges = ranges;
  alone.directives = {parsePin("loop/mm=int8:obey").value()};
  const auto plan = makePlan(model, alone);
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  EXPECT_EQ(integerProducts(*plan.value()), 1);
  EXPECT_TRUE(obeyRefusals(*plan.value()).empty());
}

TEST_F(QuantizedBodies, WeightsAloneAreCodesInThemAsWell) {
  open(looping());
  PlanOptions options{.target = "cpu"};
  options.weightOnly = {DataType::I8, 0};
  const auto plan = makePlan(model, options).value();
  const Plan* body = plan->bodyPlan(*model->graph->findNode("loop"), "body");
  ASSERT_NE(body, nullptr);
  const auto dequantizes = [](const Graph& graph) {
    return std::ranges::any_of(graph.order(), [&](NodeId id) { return graph.node(id).is("DequantizeLinear"); });
  };
  EXPECT_TRUE(dequantizes(body->graph()));
  EXPECT_LT(relative(plan, "native"), 0.03);
}

TEST_F(QuantizedBodies, PlansOfThemAreReadBack) {
  open(looping());
  const auto plan = quantised(calibrated());
  ASSERT_NE(plan, nullptr);
  const auto again = remakePlan(model, toJson(*plan));
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(toJson(*again.value()), toJson(*plan));
}

TEST_F(QuantizedBodies, WhatIsNotFiniteInOneIsLocated) {
  open(
      "g (float[2, 16] x) => (float[2, 16] y) <int64 trips = {3}, bool go = {1}, float big = {1e30}, float[16, 16] w "
      "= " +
      filling(256) +
      "> { [loop] y = Loop (trips, go, x) <body = b (int64 i, bool c, float[2, 16] h) => (bool d, float[2, 16] n) { d "
      "= Identity (c) [grow] g = Mul (h, big) [mm] n = MatMul (g, w) }> }");
  const auto ranges = calibrate(*floats, samples, {});
  ASSERT_FALSE(ranges.ok());
  EXPECT_EQ(ranges.error().where.value, "loop/g");
  EXPECT_EQ(ranges.error().where.node, "loop/grow");
}

}  // namespace
}  // namespace fusescope::test
