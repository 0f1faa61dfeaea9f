// Our own compiler keeps the contract that others do.
#include <algorithm>

#include "compilers/compile_network.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::cpuOptions;
using testing::ModelBuilder;
using testing::planned;

std::shared_ptr<const Model> productAndRelu() {
  ModelBuilder m;
  const ValueId x = m.input("x", {4, 8});
  const ValueId h = m.node("MatMul", "product", {x, m.weight("w", {8, 8})}, {4, 8});
  m.output(m.node("Relu", "relu", {h}, {4, 8}));
  return m.build();
}

TEST(OwnCompiler, IsTheFirstAndCanDoEverything) {
  ASSERT_FALSE(allCompilers().empty());
  EXPECT_EQ(allCompilers().front(), &ownCompiler());
  EXPECT_EQ(findCompiler(kOwnCompiler), &ownCompiler());
  EXPECT_EQ(findCompiler("nobody"), nullptr);
  for (const Ability ability : allAbilities()) {
    EXPECT_EQ(ownCompiler().whyNot(ability), "") << name(ability);
    EXPECT_TRUE(checkAble(ownCompiler(), ability, "do it").ok());
  }
  const Json json = toJson(ownCompiler());
  EXPECT_EQ(json["can"].size(), allAbilities().size());
  EXPECT_FALSE(json["version"].get<std::string>().empty());
}

TEST(OwnCompiler, SaysOfEachNodeWhatItsTargetSays) {
  PlanOptions options = cpuOptions();
  options.target = "tensorrt-8";
  ModelBuilder m;
  const ValueId x = m.input("x", {4, 4});
  const ValueId d = m.node("Det", "det", {x}, {});
  m.output(m.node("Exp", "exp", {d}, {}));
  const auto plan = planned(m.build(), options);
  const auto support = ownCompiler().support(*plan, {});
  ASSERT_TRUE(support.ok());
  ASSERT_EQ(support.value().nodes.size(), 2U);
  const NodeSupport* refused = support.value().find("det");
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->isAccepted, false);
  EXPECT_TRUE(refused->code.starts_with("validate.")) << refused->code;
  EXPECT_FALSE(refused->message.empty());
  EXPECT_EQ(support.value().find("exp")->isAccepted, true);
  EXPECT_EQ(support.value().find("nobody"), nullptr);
}

TEST(OwnCompiler, SaysOfEachPinWhetherItHolds) {
  PlanOptions options = cpuOptions({parsePin("product=f16").value()});
  const auto plan = planned(productAndRelu(), options);
  const auto lowered = ownCompiler().lower(plan, {});
  ASSERT_TRUE(lowered.ok());
  EXPECT_EQ(lowered.value().plan, plan);
  EXPECT_EQ(lowered.value().network, nullptr);
  ASSERT_EQ(lowered.value().pins.size(), 1U);
  EXPECT_TRUE(lowered.value().pins[0].isExpressible);
  EXPECT_EQ(lowered.value().pins[0].type, DataType::F16);
}

TEST(OwnCompiler, RunsThePlanAsItIs) {
  const auto plan = planned(productAndRelu(), cpuOptions());
  const auto engine = compileNetwork(ownCompiler(), plan, {.threads = 1, .measureTactics = false});
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  EXPECT_EQ(engine.value()->made().get(), plan.get()) << "what was made is the plan";
  EXPECT_EQ(planSupported(ownCompiler(), plan, {}).value(), plan) << "it is asked nothing";
}

}  // namespace
}  // namespace fusescope
