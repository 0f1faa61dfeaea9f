#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::cpuOptions;
using testing::ModelBuilder;
using testing::pin;
using testing::planned;

std::shared_ptr<const Model> smallModel() {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId first = b.node("Gemm", "fc1", {x, b.weight("w1", {8, 8})}, {4, 8});
  const ValueId relu = b.node("Relu", "relu", {first}, {4, 8});
  b.output(b.node("Gemm", "fc2", {relu, b.weight("w2", {8, 8})}, {4, 8}));
  return b.build();
}

PlanOptions manyOptions() {
  return {.target = "cpu:avx2",
          .precisions = {DataType::F16},
          .directives = {pin("fc1=f32:obey"), parseOutputType("relu=bf16").value(), splitDirective("fc2"),
                         parseNoFuse("view").value(), parseTruncate("all").value(), minSegmentDirective(1),
                         Directive{.kind = DirectiveKind::Tactic, .pattern = "fc2", .rule = "reference"}},
          .workspaceBytes = 1 << 20};
}

TEST(PlanJson, EqualInputsGiveEqualBytes) {
  EXPECT_EQ(toJson(*planned(smallModel(), manyOptions())).dump(), toJson(*planned(smallModel(), manyOptions())).dump());
  EXPECT_NE(planned(smallModel(), manyOptions())->hash, planned(smallModel(), cpuOptions())->hash);
}

TEST(PlanJson, EveryDecisionHasAMessageWithItsArguments) {
  const Json json = toJson(*planned(smallModel(), manyOptions()));
  ASSERT_GT(json["decisions"].size(), 10U);
  for (const Json& decision : json["decisions"]) {
    EXPECT_FALSE(decision["message"].get<std::string>().empty()) << decision["code"];
    EXPECT_EQ(decision["message"].get<std::string>().find('?'), std::string::npos) << decision["message"];
  }
}

TEST(PlanJson, ReadingBackGivesTheSamePlan) {
  const auto model = smallModel();
  const auto plan = planned(model, manyOptions());
  const auto read = planFromJson(Json::parse(toJson(*plan).dump()), model);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(toJson(*read.value()).dump(), toJson(*plan).dump());
  EXPECT_EQ(read.value()->options.directives, plan->options.directives);
}

TEST(PlanJson, RefusesWhatIsNotAPlanOfThisModel) {
  const auto model = smallModel();
  Json json = toJson(*planned(model, cpuOptions()));
  EXPECT_FALSE(planFromJson(Json::parse("[]"), model).ok());
  EXPECT_EQ(planFromJson(Json::object(), model).error().where.attribute, "format");
  Json other = json;
  other["model_hash"] = std::string(32, '0');
  EXPECT_EQ(planFromJson(other, model).error().where.attribute, "model_hash");
  Json edited = json;
  edited["fused_nodes"][0]["kind"] = "conv";
  EXPECT_EQ(planFromJson(edited, model).error().where.attribute, "fused_nodes");
  Json negative = json;
  negative["options"]["workspace_bytes"] = -1;
  EXPECT_EQ(planFromJson(negative, model).error().where.attribute, "options.workspace_bytes");
  Json newer = json;
  newer["version"] = 99;
  EXPECT_EQ(planFromJson(newer, model).error().where.attribute, "version");
}

TEST(PlanJson, VersionOneIsMadeAnewAndSaysWhatDiffers) {
  const auto model = smallModel();
  const auto plan = planned(model, manyOptions());
  Json old = toJson(*plan);
  old["version"] = 1;
  for (Json& fused : old["fused_nodes"])
    for (const char* key : {"identity", "predicted", "reads", "bindings", "calculates"}) fused.erase(key);
  for (Json& segment : old["segments"]) segment.erase("borders");
  const auto same = planFromJson(old, model);
  ASSERT_TRUE(same.ok()) << same.error().text();
  EXPECT_EQ(testing::findDecision(*same.value(), "build.plan_made_anew"), nullptr) << "nothing differs";

  old["fused_nodes"][0]["kind"] = "as older rules called it";
  old["casts"] = Json::array();
  const auto anew = planFromJson(old, model);
  ASSERT_TRUE(anew.ok()) << anew.error().text();
  EXPECT_EQ(anew.value()->options, plan->options);
  const Decision* said = testing::findDecision(*anew.value(), "build.plan_made_anew");
  ASSERT_NE(said, nullptr);
  EXPECT_NE(message(*said).find("version 1 of the format, with other fused_nodes, casts"), std::string::npos)
      << message(*said);
  EXPECT_EQ(testing::fusions(*anew.value()), testing::fusions(*plan));
}

TEST(VerifyPlan, FindsWhatIsBroken) {
  const auto plan = planned(smallModel(), manyOptions());
  const auto broken = [&](const auto& change) {
    Plan copy = *plan;
    change(copy);
    return !verifyPlan(copy).ok();
  };
  EXPECT_FALSE(broken([](Plan&) {}));
  EXPECT_TRUE(broken([](Plan& p) { p.fusedNodes.pop_back(); }));
  EXPECT_TRUE(broken([](Plan& p) { p.fusedNodes[1].nodes = p.fusedNodes[0].nodes; }));
  EXPECT_TRUE(broken([](Plan& p) { p.casts.clear(); }));
  EXPECT_TRUE(broken([](Plan& p) { p.fusedNodes[0].origins.clear(); }));
  EXPECT_TRUE(broken([](Plan& p) { p.fusedNodes[0].outputs.clear(); }));
  EXPECT_TRUE(broken([](Plan& p) { p.decisions[0].evidence.push_back(100000); }));
  EXPECT_TRUE(broken(
      [](Plan& p) { std::erase_if(p.decisions, [](const Decision& decision) { return decision.by == "split:3"; }); }));
  EXPECT_TRUE(broken([](Plan& p) { p.segments[0].nodes.pop_back(); }));
}

TEST(MakePlan, StopsWhenAsked) {
  std::stop_source source;
  source.request_stop();
  const auto plan = makePlan(smallModel(), cpuOptions(), nullptr, source.get_token());
  ASSERT_FALSE(plan.ok());
  EXPECT_TRUE(plan.error().cancelled);
}

TEST(WouldHelp, NamesOnlyChangesThatHelp) {
  const auto plan = planned(smallModel(), cpuOptions({splitDirective("fc1"), pin("fc2=f16")}));
  const auto help = wouldHelp(*plan, *plan->graph().findNode("fc1"));
  ASSERT_EQ(help.size(), 1U);
  EXPECT_EQ(help[0].change, "without --split fc1");
  EXPECT_EQ(help[0].effect, "fc1 would run as one kernel with relu");
}

TEST(WouldHelp, TruncationBringsANodeBackFromFallback) {
  ModelBuilder b;
  const ValueId i = b.input("i", {4}, DataType::I64);
  b.output(b.node("Neg", "neg", {i}, {4}, DataType::I64));
  const auto plan = planned(b.build(), {.target = "tensorrt-8", .directives = {parseTruncate("none").value()}});
  const auto help = wouldHelp(*plan, *plan->graph().findNode("neg"));
  ASSERT_FALSE(help.empty());
  EXPECT_EQ(help.back().change, "--truncate long");
  EXPECT_EQ(help.back().effect, "neg would run in segment_0");
}

TEST(WouldHelp, RemovingAFallbackOrLoweringTheMinimum) {
  const auto forced = planned(smallModel(), cpuOptions({fallbackDirective("relu")}));
  const auto help = wouldHelp(*forced, *forced->graph().findNode("relu"));
  ASSERT_EQ(help.size(), 1U);
  EXPECT_EQ(help[0].change, "without --fallback relu");
  const auto small = planned(smallModel(), cpuOptions({minSegmentDirective(10)}));
  std::string changes;
  for (const WhatIf& entry : wouldHelp(*small, *small->graph().findNode("relu"))) changes += entry.change + "; ";
  EXPECT_EQ(changes, "without --min-segment 10; --min-segment 3; ");
}

}  // namespace
}  // namespace fusescope
