// What a compiler says of nodes is a verdict of the plan.
#include "planning/read_back/compiler_support.h"
#include "base/json.h"

#include "planning/plan_json.h"
#include "planning/read_back/stated_support.h"
#include "planning/structure.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::cpuOptions;
using testing::findDecision;
using testing::ModelBuilder;
using testing::planned;

std::shared_ptr<const Model> chainOfThree() {
  ModelBuilder m;
  const ValueId x = m.input("x", {2, 2});
  const ValueId a = m.node("Relu", "a", {x}, {2, 2});
  const ValueId b = m.node("Exp", "b", {a}, {2, 2});
  m.output(m.node("Abs", "c", {b}, {2, 2}));
  return m.build();
}

PlanOptions answeredBy(std::vector<NodeSupport> nodes) {
  PlanOptions options = cpuOptions();
  options.compiler = "other";
  options.support = std::make_shared<const CompilerSupport>(CompilerSupport{std::move(nodes)});
  return options;
}

NodeSupport refusal(std::string node, SupportSource by) {
  return {
      .node = std::move(node), .isAccepted = false, .code = "", .message = "there is no such kernel", .foundBy = by};
}

TEST(CompilerSupport, WhatIsRefusedFallsBackAndSaysWhy) {
  const auto plan = planned(chainOfThree(), answeredBy({refusal("b", SupportSource::Parser)}));
  ASSERT_EQ(plan->segments.size(), 3U);
  EXPECT_EQ(plan->segments[0].backend, "other");
  EXPECT_EQ(plan->segments[1].kind, SegmentKind::Fallback);
  EXPECT_EQ(plan->segments[1].backend, "fusescope");
  const Decision* why = findDecision(*plan, "validate.compiler_refused", "b");
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(message(*why), "other refuses Exp: there is no such kernel");
  EXPECT_TRUE(verifyPlan(*plan).ok());
}

TEST(CompilerSupport, OfTheBuildHasACodeOfItsOwn) {
  const auto plan = planned(chainOfThree(), answeredBy({refusal("c", SupportSource::Build)}));
  const Decision* why = findDecision(*plan, "validate.compiler_failed", "c");
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(message(*why), "other could not compile it: there is no such kernel");
}

TEST(CompilerSupport, WhatTheCompilerWasNeverHandedFallsBackAndIsNotRefused) {
  NodeSupport apart{
      .node = "b", .isAccepted = {}, .code = "validate.not_asked", .message = "its extents depend on data"};
  const auto plan = planned(chainOfThree(), answeredBy({apart}));
  ASSERT_EQ(plan->segments.size(), 3U);
  const Decision *why = findDecision(*plan, "validate.not_asked", "b"),
                 *becomes = findDecision(*plan, "partition.not_asked", "b");
  ASSERT_TRUE(why != nullptr && becomes != nullptr);
  EXPECT_EQ(message(*why), "other was not asked about it: its extents depend on data");
  EXPECT_EQ(message(*becomes), "falls back: other was not asked about it");
}

TEST(CompilerSupport, WhatIsTakenOrNotSaidChangesNothing) {
  NodeSupport taken{.node = "a", .isAccepted = true}, unsaid{.node = "b", .isAccepted = {}},
      nobody = refusal("z", SupportSource::Parser);
  const auto plan = planned(chainOfThree(), answeredBy({taken, unsaid, nobody}));
  EXPECT_EQ(plan->segments.size(), 1U);
}

/// x -> a -> places, which the table for the CPU refuses
std::shared_ptr<const Model> withRefused() {
  ModelBuilder m;
  const ValueId x = m.input("x", {2, 2});
  const ValueId a = m.node("Relu", "a", {x}, {2, 2});
  m.output(m.node("Det", "places", {a}, {}));
  return m.build();
}

TEST(CompilerSupport, TakesThePlaceOfWhatTheTablePredicts) {
  const auto model = withRefused();
  const auto predicted = planned(model, answeredBy({}));
  ASSERT_EQ(predicted->structure->partition.unsupported.size(), 1U) << "the table decides where it was not asked";
  for (const std::optional<bool> taken : {std::optional<bool>(true), std::optional<bool>()}) {
    const auto plan = planned(model, answeredBy({{.node = "places", .isAccepted = taken}}));
    EXPECT_EQ(plan->segments.size(), 1U);
    EXPECT_EQ(plan->segments.front().kind, SegmentKind::Accelerated);
    const Decision* why = findDecision(*plan, "validate.predicted_refusal", "places");
    ASSERT_NE(why, nullptr);
    EXPECT_EQ(why->by.text(), "other");
    EXPECT_TRUE(why->allowed);
    EXPECT_NE(message(*why).find("other was asked and does not refuse Det, although the table"), std::string::npos);
    EXPECT_EQ(plan->structure->acceptedAgainstTable, std::vector{*plan->graph().findNode("places")});
  }
  const auto refused = planned(model, answeredBy({refusal("places", SupportSource::Parser)}));
  const Decision* why = findDecision(*refused, "validate.compiler_refused", "places");
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(message(*why), "other refuses Det: there is no such kernel") << "in its words, not in ours";
  EXPECT_TRUE(refused->structure->acceptedAgainstTable.empty());
}

TEST(CompilerSupport, MayBeStatedAboutAll) {
  const auto model = chainOfThree();
  const CompilerSupport all =
      statedAboutAll(*model->graph, {{refusal("c", SupportSource::Parser), refusal("z", SupportSource::Parser)}});
  ASSERT_EQ(all.nodes.size(), 3U);
  EXPECT_EQ(all.nodes[0], (NodeSupport{.node = "a", .isAccepted = {}}));
  EXPECT_EQ(all.nodes[2].isAccepted, false);
  EXPECT_EQ(nothingStated(*model->graph).nodes.size(), 3U);
}

/// Answers are part of what a plan was made of: not found in a structure of other answers, kept with the options.
TEST(CompilerSupport, IsKeptWithThePlan) {
  const auto model = chainOfThree();
  const auto before = planned(model, answeredBy({}));
  const auto after = makePlan(model, answeredBy({refusal("b", SupportSource::Parser)}), nullptr, {}, before.get());
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after.value()->segments.size(), 3U);
  EXPECT_NE(after.value()->hash, before->hash);
  EXPECT_FALSE(after.value()->options == before->options);
  const auto again = planFromJson(toJson(*after.value()), model);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again.value()->options, after.value()->options);
  EXPECT_EQ(toJson(*again.value()), toJson(*after.value()));
}

TEST(CompilerSupport, OfAnotherKindIsAnErrorWithItsPlace) {
  const auto read = [](const char* text) { return compilerSupportFromJson(Json::parse(text), "options.support"); };
  EXPECT_EQ(read("{}").error().where.attribute, "options.support");
  EXPECT_EQ(read(R"([{"taken": true}])").error().where.attribute, "options.support.node");
  EXPECT_EQ(read(R"([{"node": "a", "found_by": "chance"}])").error().where.attribute, "options.support.found_by");
  EXPECT_TRUE(read(R"([{"node": "a", "taken": null}])").ok());
}

}  // namespace
}  // namespace fusescope
