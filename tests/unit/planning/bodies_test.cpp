// Plans of the bodies of If, Loop and Scan: what runs in them, in which types, and what directives do there.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "calibration/ranges.h"
#include "passes/pipelines.h"
#include "planning/plan_json.h"
#include "tests/unit/passes/prepared_model.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::findDecision;
using testing::pin;

/// In the one branch a convolution that fuses, in the other two kernels; x is captured by both.
std::shared_ptr<const Model> branching() {
  return test::sharedModel(
      "g (bool c, float[1, 1, 6, 6] x) => (float[1, 1, 6, 6] z) <float[1, 1, 3, 3] w = {1, 2, 1, 2, 4, 2, 1, 2, 1}> {"
      "  [the_if] y = If (c) <then_branch = t () => (float[1, 1, 6, 6] t) {"
      "      [conv] k = Conv <pads = [1, 1, 1, 1]> (x, w) [relu] t = Relu (k) },"
      "    else_branch = e () => (float[1, 1, 6, 6] e) {"
      "      [soft] s = Softmax (x) [ident] i = Identity (s) [exp] e = Exp (i) }>"
      "  [last] z = Relu (y) }");
}

std::shared_ptr<const Plan> plannedBodies(const std::shared_ptr<const Model>& model, Directives directives,
                                          std::vector<DataType> precisions = {}, std::string target = "cpu:avx2") {
  const auto plan = makePlan(
      model, {.target = std::move(target), .precisions = std::move(precisions), .directives = std::move(directives)});
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  if (!plan.ok()) return nullptr;
  const Status status = verifyPlan(*plan.value());
  EXPECT_TRUE(status.ok()) << status.error().text();
  return plan.value();
}

const Plan& bodyOf(const Plan& plan, const std::string& holder, const std::string& attribute) {
  const Plan* body = plan.bodyPlan(*plan.graph().findNode(holder), attribute);
  EXPECT_NE(body, nullptr) << holder << " " << attribute;
  return body != nullptr ? *body : plan;
}

TEST(BodyPlans, AreMadeLikeThePlanAroundThem) {
  const auto plan = plannedBodies(branching(), {});
  ASSERT_NE(plan, nullptr);
  ASSERT_EQ(plan->bodies.size(), 2U);
  EXPECT_EQ(plan->bodies[0].attribute, "else_branch");
  const FusedNode* fused = plan->findFusedNode("the_if");
  ASSERT_NE(fused, nullptr);
  EXPECT_EQ(fused->kind, "if");
  EXPECT_FALSE(plan->inFallback(*fused));
  const Plan& yes = bodyOf(*plan, "the_if", "then_branch");
  ASSERT_EQ(yes.fusedNodes.size(), 1U);
  EXPECT_EQ(yes.fusedNodes[0].name, "conv + relu");
  EXPECT_EQ(yes.fusedNodes[0].kind, "conv");
  EXPECT_EQ(bodyOf(*plan, "the_if", "else_branch").fusedNodes.size(), 2U);
}

TEST(BodyPlans, BordersStayAsTheyAreDeclared) {
  const auto plan = plannedBodies(branching(), {}, {DataType::F16});
  ASSERT_NE(plan, nullptr);
  const FusedNode& fused = *plan->findFusedNode("the_if");
  EXPECT_EQ(fused.reads, (std::vector<DataType>{DataType::Bool, DataType::F32}));
  EXPECT_EQ(fused.outputs[0].type, DataType::F32);
  const Plan& yes = bodyOf(*plan, "the_if", "then_branch");
  EXPECT_EQ(yes.fusedNodes[0].compute, DataType::F16);
  ASSERT_EQ(yes.casts.size(), 2U);
  EXPECT_EQ(yes.casts[0].reason, "model_input");
  EXPECT_EQ(yes.casts[1].reason, "model_output");
}

TEST(BodyPlans, APinGoesToTheNodeInTheBody) {
  const auto plan =
      plannedBodies(branching(), {pin("the_if/conv=f16:obey"), pin("the_if/soft=bf16"), pin("the_if/ident=f16")});
  ASSERT_NE(plan, nullptr);
  const Plan& yes = bodyOf(*plan, "the_if", "then_branch");
  EXPECT_EQ(yes.fusedNodes[0].compute, DataType::F16);
  EXPECT_EQ(yes.options.directives.size(), 1U);
  EXPECT_EQ(yes.options.directives[0].pattern, "conv");
  EXPECT_EQ(yes.options.directives[0].id, "1");
  const Decision* granted = findDecision(*plan, "precision.pin_granted", "the_if/conv");
  ASSERT_NE(granted, nullptr);
  EXPECT_EQ(granted->by.text(), "pin:1");
  EXPECT_NE(findDecision(*plan, "precision.pin_granted", "the_if/soft"), nullptr);
  const Decision* nothing = findDecision(*plan, "precision.nothing_to_pin", "the_if/ident");
  ASSERT_NE(nothing, nullptr) << "normalisation took it out of the body";
  EXPECT_EQ(nothing->by.text(), "pin:3");
  EXPECT_TRUE(obeyRefusals(*plan).empty());
}

TEST(BodyPlans, WhatCannotBeHonouredInsideIsRefusedOutside) {
  const auto plan = plannedBodies(branching(), {pin("the_if/conv=f64:obey")});
  ASSERT_NE(plan, nullptr);
  ASSERT_EQ(obeyRefusals(*plan).size(), 1U);
  EXPECT_EQ(obeyRefusals(*plan)[0]->subjects[0].text(), "the_if/conv");
}

TEST(BodyPlans, SplitsAndFallbacksReachInside) {
  const auto plan = plannedBodies(branching(), {splitDirective("the_if/conv"), fallbackDirective("op:Softmax")});
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(bodyOf(*plan, "the_if", "then_branch").fusedNodes.size(), 2U);
  const Plan& no = bodyOf(*plan, "the_if", "else_branch");
  EXPECT_TRUE(no.inFallback(*no.findFusedNode("soft")));
  EXPECT_NE(findDecision(*plan, "fuse.split_honoured", "the_if/conv"), nullptr);
  EXPECT_NE(findDecision(*plan, "partition.forced_fallback", "the_if/soft"), nullptr);
}

TEST(BodyPlans, APinSaysWhatItCostsInside) {
  const auto plan = plannedBodies(branching(), {pin("the_if/relu=f16:obey"), pin("last=f16:obey")}, {}, "tensorrt-10");
  ASSERT_NE(plan, nullptr);
  const Plan& yes = bodyOf(*plan, "the_if", "then_branch");
  EXPECT_EQ(yes.fusedNodes.size(), 2U) << "what it tears apart";
  const Decision* price = findDecision(*plan, "precision.pin_price", "the_if/relu");
  ASSERT_NE(price, nullptr);
  EXPECT_EQ(price->arguments["lost_fusions"], (DecisionArgument::List{"the_if/conv + relu"}));
  EXPECT_EQ(price->arguments["lost"], "the_if/conv + relu");
  const Decision* last = findDecision(*plan, "precision.pin_price", "last");
  const Decision* together = findDecision(*plan, "precision.pins_together");
  ASSERT_TRUE(last != nullptr && together != nullptr);
  EXPECT_EQ(together->arguments["pins"], 2);
  for (const char* key : {"kernels", "casts", "bytes"})
    EXPECT_EQ(together->arguments[key], price->arguments[key].integer() + last->arguments[key].integer()) << key;
  EXPECT_EQ(together->arguments["shared_casts"], 0);
  EXPECT_EQ(together->arguments["lost_fusions"], (DecisionArgument::List{"the_if/conv + relu"}));
}

TEST(BodyPlans, AnEarlierPlanChangesNothing) {
  const auto model = branching();
  const auto before = plannedBodies(model, {});
  const PlanOptions options{.target = "cpu:avx2", .directives = {pin("the_if/conv=f16")}};
  const auto fresh = makePlan(model, options);
  const auto warm = makePlan(model, options, nullptr, {}, before.get());
  ASSERT_TRUE(fresh.ok() && warm.ok());
  EXPECT_EQ(toJson(*fresh.value()).dump(), toJson(*warm.value()).dump());
  EXPECT_EQ(bodyOf(*warm.value(), "the_if", "then_branch").structure,
            bodyOf(*before, "the_if", "then_branch").structure);
}

TEST(BodyPlans, AreReadBackWithThePlan) {
  const auto plan = plannedBodies(branching(), {pin("the_if/conv=f16")});
  const Json json = toJson(*plan);
  const auto entry =
      std::ranges::find_if(json["fused_nodes"], [](const Json& fused) { return fused["name"] == "the_if"; });
  ASSERT_NE(entry, json["fused_nodes"].end());
  ASSERT_EQ((*entry)["bodies"].size(), 2U);
  EXPECT_EQ((*entry)["bodies"][1]["attribute"], "then_branch");
  EXPECT_EQ((*entry)["bodies"][1]["plan"]["fused_nodes"][0]["compute"], "f16");
  const auto back = planFromJson(json, plan->model);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(toJson(*back.value()).dump(), json.dump());

  Json edited = json;
  for (Json& fused : edited["fused_nodes"])
    if (fused["name"] == "the_if") fused["bodies"][1]["plan"]["fused_nodes"][0]["compute"] = "f32";
  EXPECT_FALSE(planFromJson(edited, plan->model).ok());
}

TEST(BodyPlans, TheVerifierLooksInside) {
  const auto plan = plannedBodies(branching(), {});
  Plan broken = *plan;
  Plan body = plannedBody(broken.bodies[0]);
  body.fusedNodes.pop_back();
  broken.bodies[0].cover = std::make_shared<const Plan>(std::move(body));
  const Status status = verifyPlan(broken);
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(status.error().where.node.starts_with("the_if/")) << status.error().text();
}

TEST(BodyPlans, OfATargetThatTakesAnIfAsAWhole) {
  const auto plan = plannedBodies(branching(), {}, {DataType::F16}, "tensorrt-10");
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->bodies.size(), 2U);
  const auto apart =
      plannedBodies(test::sharedModel("g (bool c, float[2, 2] x) => (float[2, 2] y) {"
                                      "  [the_if] y = If (c) <then_branch = t () => (float[2, 2] a) { a = Exp (x) },"
                                      "    else_branch = e () => (float[2, 2] b) { [hard] b = Hardmax (x) }> }"),
                    {}, {}, "tensorrt-8");
  ASSERT_NE(apart, nullptr);
  EXPECT_TRUE(apart->inFallback(*apart->findFusedNode("the_if")));
  EXPECT_TRUE(apart->bodies.empty());
}

TEST(BodyPlans, InBodies) {
  const auto plan = plannedBodies(
      test::sharedModel("g (int64 m, bool c, float[4] s) => (float[4] y) {"
                        "  [loop] y = Loop (m, , s) <body = b (int64 i, bool go, float[4] u) => (bool on, float[4] v) {"
                        "      on = Identity (go) [in] v = If (c) <"
                        "        then_branch = t () => (float[4] p) { [leaf] p = Exp (u) },"
                        "        else_branch = e () => (float[4] q) { q = Neg (u) }> }> }"),
      {pin("loop/in/leaf=f16:obey")});
  ASSERT_NE(plan, nullptr);
  const Plan& deep = bodyOf(bodyOf(*plan, "loop", "body"), "in", "then_branch");
  EXPECT_EQ(deep.fusedNodes[0].compute, DataType::F16);
  const Decision* granted = findDecision(*plan, "precision.pin_granted", "loop/in/leaf");
  ASSERT_NE(granted, nullptr);
  EXPECT_EQ(granted->by.text(), "pin:1");
}

TEST(BodyPlans, RangesSayNothingOfABranchThatIsHandedNothing) {
  const auto model = test::sharedModel(
      "g (bool c, float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1, 2, 3, 4}> {"
      "  p = MatMul (x, w)"
      "  [the_if] q = If (c) <then_branch = t () => (float[2, 2] a) {"
      "      a = Constant <value = float[2, 2] {1, 1, 1, 1}> () },"
      "    else_branch = e () => (float[2, 2] b) { b = Neg (x) }> y = Add (p, q) }");
  Ranges ranges;
  ranges.edges["x"] = {.range = {-1, 1}};
  const auto plan =
      makePlan(model, {.precisions = {DataType::I8}, .ranges = std::make_shared<const Ranges>(std::move(ranges))});
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  EXPECT_EQ(plan.value()->bodies.size(), 2U);
}

/// A node of one name in both branches.
std::shared_ptr<const Model> twins() {
  return test::sharedModel(
      "g (bool c, float[4] x) => (float[4] y) {"
      "  [the_if] y = If (c) <then_branch = t () => (float[4] a) { [twin] k = Exp (x) [only] a = Sqrt (k) },"
      "    else_branch = e () => (float[4] b) { [twin] b = Sin (x) }> }");
}

TEST(BodyPlans, ANameOfTwoBranchesIsOfBothAndToldApartByTheBranch) {
  const auto both = plannedBodies(twins(), {pin("the_if/twin=f16:obey")});
  ASSERT_NE(both, nullptr);
  for (const char* branch : {"then_branch", "else_branch"}) {
    EXPECT_EQ(bodyOf(*both, "the_if", branch).fusedNodes[0].compute, DataType::F16) << branch;
    const std::string place = std::string("the_if/") + branch + "/twin";
    EXPECT_NE(findDecision(*both, "precision.pin_granted", place), nullptr) << place;
  }
  const auto one = plannedBodies(twins(), {pin("the_if/else_branch/twin=f16:obey")});
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(bodyOf(*one, "the_if", "else_branch").fusedNodes[0].compute, DataType::F16);
  EXPECT_EQ(bodyOf(*one, "the_if", "then_branch").fusedNodes[0].compute, DataType::F32);
  EXPECT_EQ(findDecision(*one, "precision.pin_granted", "the_if/then_branch/twin"), nullptr);
  const auto only = plannedBodies(twins(), {pin("the_if/only=f16:obey")});
  ASSERT_NE(only, nullptr);
  EXPECT_NE(findDecision(*only, "precision.pin_granted", "the_if/only"), nullptr) << "one branch alone has the name";
  const auto inFull = plannedBodies(twins(), {pin("the_if/then_branch/only=f16:obey")});
  ASSERT_NE(inFull, nullptr);
  EXPECT_NE(findDecision(*inFull, "precision.pin_granted", "the_if/only"), nullptr);
}

TEST(BodyPlans, ABranchThatWasTakenIsStillCalledByItsPath) {
  const auto plan = plannedBodies(
      test::sharedModel("g (float[4] x) => (float[4] y) <bool c = {1}> {"
                        "  [the_if] y = If (c) <then_branch = t () => (float[4] a) { [inner] a = Exp (x) },"
                        "    else_branch = e () => (float[4] b) { b = Neg (x) }> }"),
      {pin("the_if/inner=f16")});
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->fusedNodes[0].compute, DataType::F16);
  const auto inFull = plannedBodies(plan->model, {pin("the_if/then_branch/inner=f16")});
  ASSERT_NE(inFull, nullptr);
  EXPECT_EQ(inFull->fusedNodes[0].compute, DataType::F16);
}

}  // namespace
}  // namespace fusescope
