// What a node with bodies is predicted to take, by the predicted times of its bodies' plans.
#include <gtest/gtest.h>

#include "base/json.h"
#include "passes/pipelines.h"
#include "planning/plan_totals.h"
#include "planning/prices/body_time.h"
#include "planning/prices/price_model.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

/// By the operator of the node that gives a kernel its kind; of others nothing is known.
class PricesByOperator : public PriceModel {
 public:
  explicit PricesByOperator(std::map<std::string, Price> prices) : m_prices(std::move(prices)) {}
  std::vector<Price> kernels(const Plan& plan) const override {
    std::vector<Price> prices;
    for (const FusedNode& fused : plan.fusedNodes) {
      const auto found = m_prices.find(plan.graph().node(fused.root).op);
      prices.push_back(found == m_prices.end() ? Price() : found->second);
    }
    return prices;
  }
  Price conversion(DataType, DataType, std::int64_t) const override { return {}; }

 private:
  std::map<std::string, Price> m_prices;
};

Price measured(double ms) {
  return {.ms = ms, .how = PriceSource::Measured, .spread = 0.1};
}

std::shared_ptr<const Model> modelOf(const std::string& text) {
  auto imported = test::importText(text);
  EXPECT_TRUE(imported.ok()) << imported.error().text();
  auto model = prepareModel(std::move(imported).value());
  EXPECT_TRUE(model.ok()) << model.error().text();
  return std::make_shared<const Model>(std::move(model).value());
}

std::shared_ptr<const Plan> pricedPlan(const std::shared_ptr<const Model>& model,
                                       const std::map<std::string, Price>& prices) {
  const PricesByOperator model_prices(prices);
  const auto plan = makePlan(model, testing::cpuOptions(), &model_prices);
  EXPECT_TRUE(plan.ok());
  const auto again = remakePlan(model, toJson(*plan.value()));
  EXPECT_TRUE(again.ok());
  EXPECT_EQ(toJson(*again.value()).dump(), toJson(*plan.value()).dump()) << "made again as it was";
  return plan.value();
}

std::shared_ptr<const Model> pricedBranches() {
  return modelOf(
      "g (bool c, float[2, 8] x) => (float[2, 8] z) {"
      "  [the_if] y = If (c) <then_branch = t () => (float[2, 8] t) { [soft] t = Softmax (x) },"
      "    else_branch = e () => (float[2, 8] e) { [exp] e = Exp (x) }>"
      "  [last] z = Softmax (y) }");
}

/// A Loop or Scan of a body with an Exp and a Softmax that do not fuse.
std::string looping(const std::string& most, const std::string& condition) {
  return "g (int64 m, bool more, float[4] s, float[6, 4] r) => (float[4] y) <int64 five = {5}, bool yes = {1}> {"
         "  [loop] y = Loop (" +
         most +
         ", , s) <body = b (int64 i, bool go, float[4] u) => (bool on, float[4] v) {"
         "      on = " +
         condition + " v = Softmax (u) }> }";
}

TEST(BodyTime, OfAnIfIsARangeOverItsBranches) {
  const auto plan =
      pricedPlan(pricedBranches(), {{"Softmax", measured(2)}, {"Exp", measured(0.5)}, {"If", measured(9)}});
  const FusedNode& fused = *plan->findFusedNode("the_if");
  ASSERT_TRUE(fused.bodyTime);
  EXPECT_EQ(fused.bodyTime->leastMs, 0.5);
  EXPECT_EQ(fused.bodyTime->mostMs, 2.0);
  EXPECT_EQ(fused.bodyTime->how, PriceSource::Measured);
  EXPECT_FALSE(fused.bodyTime->perIteration);
  EXPECT_FALSE(fused.predictedMs) << "no one number; what a model of prices says of the node itself is not asked";
  EXPECT_FALSE(plan->predictedMs);
  const PredictedTime time = predictedTime(*plan);
  EXPECT_EQ(time.unknown, 0);
  EXPECT_EQ(time.leastMs, 2.5);
  EXPECT_EQ(time.mostMs, 4.0);
}

TEST(BodyTime, OfBranchesThatTakeTheSameIsOneNumber) {
  const auto plan =
      pricedPlan(pricedBranches(), {{"Softmax", measured(2)}, {"Exp", {.ms = 2.0, .how = PriceSource::Fitted}}});
  const FusedNode& fused = *plan->findFusedNode("the_if");
  EXPECT_EQ(fused.predictedMs, 2.0);
  EXPECT_EQ(fused.predictedHow, PriceSource::Fitted) << "a part of it is";
  EXPECT_EQ(plan->predictedMs, 4.0);
}

TEST(BodyTime, IsUnknownWhereABranchIs) {
  const auto plan = pricedPlan(pricedBranches(), {{"Softmax", measured(2)}});
  EXPECT_FALSE(plan->findFusedNode("the_if")->bodyTime);
  EXPECT_EQ(predictedTime(*plan).unknown, 1);
}

TEST(BodyTime, WithoutPricesNothingIsPredicted) {
  const auto plan = testing::planned(modelOf("g (bool c, float[2] x) => (float[2] y) {"
                                             "  y = If (c) <then_branch = t () => (float[2] t) { t = Identity (x) },"
                                             "    else_branch = e () => (float[2] e) { e = Identity (x) }> }"),
                                     testing::cpuOptions());
  ASSERT_EQ(plan->bodies.size(), 2U);
  EXPECT_FALSE(plan->fusedNodes[0].bodyTime);
}

TEST(BodyTime, OfALoopIsThatOfAllItsIterations) {
  const std::map<std::string, Price> prices{{"Softmax", measured(2)}, {"Identity", measured(0)}};
  const auto known = pricedPlan(modelOf(looping("five", "Identity (go)")), prices);
  const FusedNode& loop = *known->findFusedNode("loop");
  ASSERT_TRUE(loop.bodyTime);
  EXPECT_EQ(loop.bodyTime->iterations, 5);
  EXPECT_FALSE(loop.bodyTime->perIteration);
  EXPECT_EQ(loop.predictedMs, 10.0);
  EXPECT_EQ(known->predictedMs, 10.0);
}

TEST(BodyTime, OfALoopOfNobodyKnowsHowMany) {
  const std::map<std::string, Price> prices{{"Softmax", measured(2)}, {"Identity", measured(0)}, {"Less", measured(1)}};
  for (const auto& text : {looping("m", "Identity (go)"), looping("five", "Less (i, m)")}) {
    const auto plan = pricedPlan(modelOf(text), prices);
    const FusedNode& loop = *plan->findFusedNode("loop");
    ASSERT_TRUE(loop.bodyTime) << text;
    EXPECT_TRUE(loop.bodyTime->perIteration);
    EXPECT_FALSE(loop.bodyTime->iterations);
    EXPECT_GE(loop.bodyTime->leastMs, 2.0);
    EXPECT_FALSE(loop.predictedMs) << "a time of one iteration is not the node's";
    EXPECT_EQ(predictedTime(*plan).unknown, 1);
  }
}

TEST(BodyTime, OfAScanGoesByTheExtentItGoesAlong) {
  const auto plan = pricedPlan(modelOf("g (float[4] s, float[4, 6] r) => (float[4] y, float[6, 4] all) {"
                                       "  [scan] y, all = Scan <num_scan_inputs = 1, scan_input_axes = [1], "
                                       "    body = b (float[4] u, float[4] e) => (float[4] v, float[4] w) {"
                                       "      v = Softmax (e) w = Softmax (u) }> (s, r) }"),
                               {{"Softmax", measured(1)}});
  const FusedNode& scan = *plan->findFusedNode("scan");
  ASSERT_TRUE(scan.bodyTime);
  EXPECT_EQ(scan.bodyTime->iterations, 6);
  EXPECT_EQ(scan.predictedMs, 12.0);
}

TEST(BodyTime, GoesThroughBodiesOfBodies) {
  const auto plan = pricedPlan(modelOf("g (bool c, float[4] s) => (float[4] y) <int64 five = {5}> {"
                                       "  [loop] y = Loop (five, , s) <body = b (int64 i, bool go, float[4] u) => "
                                       "      (bool on, float[4] v) {"
                                       "      on = Identity (go) [in] v = If (c) <"
                                       "        then_branch = t () => (float[4] p) { p = Softmax (u) },"
                                       "        else_branch = e () => (float[4] q) { q = Exp (u) }> }> }"),
                               {{"Softmax", measured(2)}, {"Exp", measured(0.5)}, {"Identity", measured(0)}});
  const FusedNode& loop = *plan->findFusedNode("loop");
  ASSERT_TRUE(loop.bodyTime);
  EXPECT_EQ(loop.bodyTime->leastMs, 2.5);
  EXPECT_EQ(loop.bodyTime->mostMs, 10.0);
  EXPECT_FALSE(loop.predictedMs);
}

TEST(BodyTime, IsToldForTheExtentsThatTheHolderHandsOver) {
  const auto model = modelOf(
      "g (bool c, float[n, 8] x) => (float[n, 8] y) {"
      "  [the_if] y = If (c) <then_branch = t () => (float[n, 8] t) { [soft] t = Softmax (x) },"
      "    else_branch = e () => (float[n, 8] e) { [exp] e = Exp (x) }> }");
  ASSERT_EQ(model->bodies.size(), 2U);
  const std::vector<InputSpec>& specs = model->bodies[0].model->inputSpecs;
  ASSERT_EQ(specs.size(), 1U);
  EXPECT_EQ(specs[0].source, "holder");
  EXPECT_EQ(specs[0].opt, model->inputSpecs[1].opt);
  const auto plan = testing::planned(model, testing::cpuOptions());
  const std::int64_t elements = 8 * model->inputSpecs[1].opt[0];
  EXPECT_EQ(plan->bodies[1].cover->fusedNodes[0].bytes, 8 * elements) << "f32, read and written";
}

}  // namespace
}  // namespace fusescope
