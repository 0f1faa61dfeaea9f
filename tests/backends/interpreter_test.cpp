// A backend that compiles whole segments: a target names it in one line, and what it made of them is shown as read
// back.
#include <array>
#include <set>

#include "backends/segment_compiler.h"
#include "engine/read_back.h"
#include "planning/steps.h"
#include "session/report_json.h"
#include "session/run.h"
#include "tests/backends/backend_fixture.h"

namespace fusescope::testing {
namespace {

constexpr const char* kInterpreter = "interpreter";
const BuildOptions kOptions{.backend = kInterpreter, .threads = 1, .measureTactics = false};

/// Names of the nodes of each fused node.
std::set<std::set<std::string>> partition(const Plan& plan) {
  std::set<std::set<std::string>> parts;
  for (const FusedNode& fused : plan.fusedNodes) {
    std::set<std::string> nodes;
    for (const NodeId node : fused.nodes) nodes.insert(plan.graph().node(node).name);
    parts.insert(std::move(nodes));
  }
  return parts;
}

class InterpretedSamples : public ::testing::TestWithParam<const char*> {};

TEST_P(InterpretedSamples, AgreeWithTheReferenceAndAreReadBack) {
  const auto plan = planOf(sampleModel(GetParam()));
  const auto inputs = inputsOf(*plan);
  expectAsReference(plan, resultOf(plan, kInterpreter, inputs), inputs);
  const auto engine = engineOf(plan, kOptions);
  const auto made = engine->readBack();
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(toJson(*made)["source"], "read_back");
  EXPECT_EQ(toJson(engine->plan())["source"], "planned");
  EXPECT_NE(partition(*made), partition(*plan)) << "it fuses otherwise than we do";
  const Status verified = verifyPlan(*made);
  EXPECT_TRUE(verified.ok()) << verified.error().text();
}

TEST_P(InterpretedSamples, AgreeWherePartsFallBack) {
  const auto model = sampleModel(GetParam());
  const Node& middle = model->graph->node(model->graph->order()[model->graph->nodeCount() / 2]);
  const auto plan = planOf(model, {.directives = {fallbackDirective(middle.name)}});
  const auto inputs = inputsOf(*plan);
  expectAsReference(plan, resultOf(plan, kInterpreter, inputs, {"all"}), inputs, {"all"});
  const auto made = engineOf(plan, kOptions)->readBack();
  ASSERT_NE(made, nullptr);
  const FusedNode& fallback = *made->fusedNodeOf(middle.id);
  EXPECT_TRUE(made->inFallback(fallback));
  EXPECT_EQ(fallback.identity, plan->fusedNodeOf(middle.id)->identity) << "it is as planned";
}

INSTANTIATE_TEST_SUITE_P(All, InterpretedSamples,
                         ::testing::Values("bert_tiny", "fp16_overflow", "long_double", "moe_dense", "squeezenet1_1",
                                           "tiny_resnet_dynbatch"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Interpreter, IsWhatATargetNamesInOneLine) {
  const auto model = sampleModel("tiny_resnet_dynbatch");
  const auto plan = planOf(model, {.target = "interpreted"});
  EXPECT_EQ(plan->segments[0].backend, kInterpreter);
  const auto engine = engineOf(plan, {.threads = 1, .measureTactics = false});
  EXPECT_EQ(engine->backend(), kInterpreter);
  EXPECT_NE(engine->readBack(), nullptr);
  const auto native = engineOf(planOf(model), {.threads = 1, .measureTactics = false});
  EXPECT_EQ(native->backend(), "native");
  EXPECT_EQ(native->readBack(), nullptr);
}

/// x · w in float16 by the plan's wish, then Relu: one segment, which calculates in float32 whatever was asked.
std::shared_ptr<const Plan> loweredPlan() {
  Directives directives{parsePin("matmul_0=f16").value(), parsePin("act_0=f16").value()};
  return planOf(blocksPlan(false)->model, {.directives = directives});
}

TEST(ReadBack, TellsTypesThatWereNotAskedFor) {
  const auto plan = loweredPlan();
  const NodeId node = *plan->graph().findNode("matmul_0");
  ASSERT_EQ(plan->calculates[node.index], DataType::F16);
  const auto made = engineOf(plan, kOptions)->readBack();
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->calculates[node.index], DataType::F32);
  EXPECT_EQ(made->fusedNodeOf(node)->compute, DataType::F32);
  const auto grant = std::ranges::find(made->precisionMap, node, &PrecisionGrant::node);
  EXPECT_EQ(std::pair(grant->asked, grant->granted), std::pair(DataType::F16, DataType::F32));
}

TEST(ReadBack, IsShownByTimeInspectAndRuns) {
  const auto plan = blocksPlan(true);
  const auto engine = engineOf(plan, kOptions);
  const auto report = engine->time({{"x", noise({4, 16}, 1)}}, {.seconds = 0.02, .warmupSeconds = 0, .perLayer = true});
  ASSERT_TRUE(report.ok()) << report.error().text();
  const Json json = toJson(report.value(), *plan);
  ASSERT_EQ(json["layers"].size(), 3U) << "a segment, what falls back, a segment";
  const Json& first = json["layers"][0];
  EXPECT_EQ(first["name"], plan->segments[0].name);
  EXPECT_TRUE(first["median_ms"].is_number());
  ASSERT_EQ(first["layers"].size(), 1U);
  const Json& inside = first["layers"][0];
  EXPECT_EQ(inside["name"], "tree of act_0");
  EXPECT_EQ(inside["origins"], Json({"matmul_0", "act_0"}));
  EXPECT_EQ(inside["source"], "read_back");
  EXPECT_EQ(inside["types"]["compute"], "f32");
  EXPECT_TRUE(inside["median_ms"].is_null());
  EXPECT_EQ(json["layers"][1]["source"], "planned");

  const auto time = runTimeFromJson(json);  // as the window's run
  ASSERT_TRUE(time.ok()) << time.error().text();
  ASSERT_EQ(time.value().layers[0].readBack.size(), 1U);
  EXPECT_EQ(time.value().layers[0].readBack[0].name, "tree of act_0");
  fusescope::Run run{.id = "1", .kind = RunKind::Plan};
  run.time = time.value();
  const auto again = runFromJson(toJson(run));
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again.value().time->layers, time.value().layers);

  const TemporaryFolder folder;
  ASSERT_TRUE(engine->save(folder / "e.fse").ok());
  const auto file = openEngineFile(folder / "e.fse");
  ASSERT_TRUE(file.ok()) << file.error().text();
  const Json inspected = inspectJson(file.value(), "e.fse")["engine"];
  EXPECT_EQ(inspected["source"], "read_back");
  EXPECT_EQ(inspected["backend"], kInterpreter);
  std::vector<std::string> names;
  for (const Json& layer : inspected["layers"]) names.push_back(layer["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"tree of act_0", "matmul_1", "tree of act_2"}));
  const auto loaded = loadEngine(file.value(), {.threads = 1, .measureTactics = false});
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(partition(*loaded.value()->readBack()), partition(*engine->readBack()));
}

TEST(ReadBack, HoldsCompilersToWhatTheySay) {
  const auto plan = blocksPlan(false);
  const auto node = [&](const char* name) { return *plan->graph().findNode(name); };
  const auto made = [&](std::vector<NodeId> nodes) {
    return ReadBackNode{.name = "some", .kind = "tree", .nodes = std::move(nodes), .compute = DataType::F32};
  };
  std::vector<NodeId> all(plan->graph().order());
  EXPECT_TRUE(readBackPlan(*plan, {made(all)}).ok());
  const auto twice = readBackPlan(*plan, {made(all), made({node("act_1")})});
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().where.node, "act_1");
  const auto missing = readBackPlan(*plan, {made({node("matmul_0")})});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().where.node, "act_0");
}

/// Rows that are kept by a condition: their number depends on data.
TEST(Interpreter, LeavesSegmentsThatCannotBeWholeToTheReference) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({4, 3}));
  const ValueId keep = editor.addInput("keep", {DataType::Bool, Shape::of(Dims{4})});
  const ValueId kept = editor.addValue("kept", f32({Dim(), 3}));
  const ValueId y = editor.addValue("y", f32({Dim(), 3}));
  Node compress{.op = "Compress", .name = "compress", .inputs = {x, keep}, .outputs = {kept}};
  compress.attributes["axis"] = std::int64_t{0};
  editor.addNode(std::move(compress));
  editor.addNode({.op = "Relu", .name = "relu", .inputs = {kept}, .outputs = {y}});
  editor.addOutput(y);
  const auto plan = planOf(modelOf(editor));
  const auto engine = engineOf(plan, kOptions);
  const auto& decisions = engine->report().decisions;
  const auto told = std::ranges::find(decisions, "build.segment_in_parts", &Decision::code);
  ASSERT_NE(told, decisions.end());
  EXPECT_EQ(told->subjects[0].text(), plan->segments[0].name);
  EXPECT_NE(message(*told).find("depend on data"), std::string::npos) << message(*told);
  EXPECT_EQ(engine->readBack(), nullptr);
  constexpr std::array<bool, 4> kKeep{true, false, true, true};
  const std::map<std::string, Tensor> inputs{
      {"x", noise({4, 3}, 1)}, {"keep", Tensor::copyOf<bool>(DataType::Bool, {4}, std::span<const bool>(kKeep))}};
  expectAsReference(plan, resultOf(plan, kInterpreter, inputs), inputs);
}

}  // namespace
}  // namespace fusescope::testing
