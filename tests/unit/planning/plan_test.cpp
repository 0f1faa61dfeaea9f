#include "base/json.h"
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
  EXPECT_EQ(planFromJson(edited, model).error().where.attribute, "digest");
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
  EXPECT_NE(message(*said).find("version 1 of the format, by other rules, and fused_nodes, casts"), std::string::npos)
      << message(*said);
  EXPECT_EQ(testing::fusions(*anew.value()), testing::fusions(*plan));
}

/// relu(x · w) of x [n, 8], whose extent n is 1, 4 or 64.
std::shared_ptr<const Model> openModel() {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", {DataType::F32, Shape::of({Dim::named("n"), 8})});
  const ValueId w = editor.addConstant("w", Tensor::zeros(DataType::F32, {8, 8}));
  const TensorType type{DataType::F32, Shape::of({Dim::named("n"), 8})};
  const ValueId y = editor.addValue("y", type), z = editor.addValue("z", type);
  editor.addNode({.op = "MatMul", .name = "dot", .inputs = {x, w}, .outputs = {y}, .origins = {OriginId(0)}});
  editor.addNode({.op = "Relu", .name = "relu", .inputs = {y}, .outputs = {z}, .origins = {OriginId(1)}});
  editor.addOutput(z);
  Model model;
  model.graph = editor.publish().value();
  model.path = "open.onnx";
  model.origins = {{"dot", "MatMul", ""}, {"relu", "Relu", ""}};
  model.inputSpecs = {{"x", DataType::F32, {1, 8}, {4, 8}, {64, 8}, "file"}};
  model.contentHash = hashText("open");
  return std::make_shared<const Model>(std::move(model));
}

TEST(PlanJson, WorkAndBytesHaveRangesWhereExtentsAreOpen) {
  const Json json = toJson(*planned(openModel(), cpuOptions()));
  const Json& fused = json["fused_nodes"][0];
  EXPECT_EQ(fused["flops"], 4 * (2 * 8 * 8 + 8));
  EXPECT_EQ(fused["flops_least"], 2 * 8 * 8 + 8);
  EXPECT_EQ(fused["flops_most"], 64 * (2 * 8 * 8 + 8));
  EXPECT_EQ(fused["bytes_least"], 4 * (8 + 64 + 8));
  EXPECT_EQ(fused["bytes_most"], 4 * (64 * 8 + 64 + 64 * 8));
  EXPECT_EQ(json["work"]["bytes_most"], fused["bytes_most"]);
  EXPECT_TRUE(json["work"]["predicted_ms_most"].is_null()) << "nobody measured it";
  EXPECT_FALSE(toJson(*planned(smallModel(), cpuOptions()))["fused_nodes"][0].contains("bytes_least"));
}

TEST(PlanJson, ARangeGoesAsFarAsConditionsHold) {
  Model model = *openModel();
  model.conditions = {{.left = "n % 8", .right = "0", .node = "dot"},
                      {.left = "n", .right = "40", .node = "dot", .relation = ExtentCondition::Relation::AtMost}};
  const auto plan = planned(std::make_shared<const Model>(model), cpuOptions());
  EXPECT_FALSE(plan->fusedNodes[0].flops) << "the usual extent breaks a condition";
  EXPECT_EQ(plan->fusedNodes[0].range->least.flops, 8 * (2 * 8 * 8 + 8));
  EXPECT_EQ(plan->fusedNodes[0].range->most.flops, 40 * (2 * 8 * 8 + 8));
}

/// As the version before wrote it: each node by itself where extents are open, nothing known of work.
TEST(PlanJson, APlanOfOpenExtentsOfTheVersionBeforeIsMadeAnew) {
  const auto model = openModel();
  const auto plan = planned(model, cpuOptions());
  Json old = toJson(*plan);
  old["version"] = 2;
  for (const char* key : {"digest", "conditions", "work"}) old.erase(key);
  Json dot = old["fused_nodes"][0], relu = dot;
  for (Json* fused : {&dot, &relu}) {
    for (const char* key :
         {"flops_least", "flops_most", "bytes_least", "bytes_most", "predicted_ms_least", "predicted_ms_most"})
      fused->erase(key);
    (*fused)["flops"] = (*fused)["bytes"] = nullptr;
  }
  dot["origins"] = dot["nodes"] = {"dot"};
  relu["origins"] = relu["nodes"] = {"relu"};
  old["fused_nodes"] = {dot, relu};
  const auto anew = planFromJson(old, model);
  ASSERT_TRUE(anew.ok()) << anew.error().text();
  EXPECT_EQ(testing::fusions(*anew.value()), testing::fusions(*plan));
  const Decision* said = testing::findDecision(*anew.value(), "build.plan_made_anew");
  ASSERT_NE(said, nullptr);
  EXPECT_NE(message(*said).find("version 2 of the format, by other rules, and fused_nodes"), std::string::npos)
      << message(*said);
  // The file was read otherwise then: its nodes tell that it is the same.
  old["model_hash"] = std::string(32, '0');
  EXPECT_TRUE(planFromJson(old, model).ok());
  old["fused_nodes"][0]["origins"] = {"of_another_network"};
  EXPECT_EQ(planFromJson(old, model).error().where.attribute, "model_hash");
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
  EXPECT_TRUE(broken([](Plan& p) {
    std::erase_if(p.decisions, [](const Decision& decision) { return decision.by.text() == "split:3"; });
  }));
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
