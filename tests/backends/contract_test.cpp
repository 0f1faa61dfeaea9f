// A tactic whose numbers the contract does not allow is never taken, however quick its backend says that it is.
#include <gtest/gtest.h>

#include "tests/backends/backend_fixture.h"
#include "tests/backends/clamping/clamping_backend.h"

namespace fusescope::testing {
namespace {

constexpr std::int64_t kInner = 300;  // products of 127 and 127, whose sum needs more than 16 bits

/// x [2, 300] times weights that are all the same: of bytes into integers, or of floats.
std::shared_ptr<const Plan> productPlan(bool ofBytes, Directives directives = {}) {
  GraphEditor editor;
  const DataType type = ofBytes ? DataType::I8 : DataType::F32;
  const ValueId x = editor.addInput("x", {.dtype = type, .shape = Shape::of(Dims{2, kInner})});
  Tensor ones = Tensor::zeros(DataType::F32, {kInner, 4});
  std::ranges::fill(ones.mutableData<float>(), 127.0F);
  const ValueId w = editor.addConstant("w", ofBytes ? ones.converted(DataType::I8) : ones);
  const ValueId y =
      editor.addValue("y", {.dtype = ofBytes ? DataType::I32 : DataType::F32, .shape = Shape::of(Dims{2, 4})});
  editor.addNode({.op = ofBytes ? "MatMulInteger" : "MatMul", .name = "product", .inputs = {x, w}, .outputs = {y}});
  editor.addOutput(y);
  return planOf(modelOf(editor), {.directives = std::move(directives)});
}

std::vector<const Decision*> turnedAway(const BuildReport& report) {
  std::vector<const Decision*> found;
  for (const Decision& decision : report.decisions)
    if (decision.code == "tactic.inexact") found.push_back(&decision);
  return found;
}

const BuildOptions kQuick{.backend = "clamping", .threads = 1, .measureTactics = false};

TEST(Contract, SumsOfIntegersAreExact) {
  const auto plan = productPlan(true);
  const auto engine = engineOf(plan, kQuick);
  ASSERT_EQ(engine->report().tactics.size(), 1U);
  EXPECT_EQ(engine->report().tactics[0].chosen, "clamping:exact");
  const auto refused = turnedAway(engine->report());
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_EQ(refused[0]->arguments["tactic"], "clamping:saturating");
  EXPECT_EQ(refused[0]->arguments["numerics"], "saturates");
  EXPECT_EQ(refused[1]->arguments["tactic"], "clamping:flushing");
  EXPECT_EQ(refused[1]->arguments["numerics"], "flushes");
  Tensor x = Tensor::zeros(DataType::I8, {2, kInner});
  std::ranges::fill(x.mutableData<std::int8_t>(), std::int8_t{127});
  const auto result = engine->run({{"x", x}});
  ASSERT_TRUE(result.ok());
  expectAsReference(plan, result.value(), {{"x", x}});
}

TEST(Contract, OneThatSumsFloatsSaysNothingOfThat) {
  const auto engine = engineOf(productPlan(false), kQuick);
  EXPECT_EQ(engine->report().tactics[0].chosen, "clamping:saturating");
  EXPECT_TRUE(turnedAway(engine->report()).empty());
}

TEST(Contract, NobodyCanAskForWhatItDoesNotAllow) {
  const auto plan =
      productPlan(true, {{.kind = DirectiveKind::Tactic, .pattern = "product", .rule = "clamping:saturating"}});
  const auto engine = engineOf(plan, kQuick);
  EXPECT_EQ(engine->report().tactics[0].chosen, "clamping:exact");
  EXPECT_EQ(turnedAway(engine->report()).size(), 2U);
}

TEST(Contract, WithoutAnExactWayItDoesNotBuild) {
  offerExactWays(false);
  const auto engine = buildEngine(productPlan(true), kQuick);
  offerExactWays(true);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().where.node, "product");
  EXPECT_NE(engine.error().message.find("no exact way"), std::string::npos) << engine.error().text();
}

}  // namespace
}  // namespace fusescope::testing
