// Names, profiles, options and numbers of ONNX Runtime.
#include <gtest/gtest.h>

#include <fstream>

#include "compilers/onnxruntime/onnxruntime_options.h"
#include "compilers/onnxruntime/onnxruntime_profile.h"
#include "compilers/onnxruntime/verify_bindings.h"
#include "tests/support/paths.h"
#include "tests/unit/compilers/file_graphs.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using namespace onnxruntime;
using testing::fileGraph;

TEST(OnnxRuntimeNames, KernelsAreCalledAfterNodes) {
  const auto file = fileGraph({"in x", "Relu n1 x -> v1", "Relu a/b v1 -> v12", "Relu n14 v12 -> y", "out y"});
  const TensorGraph graph(file);
  const auto named = [&](std::string_view kernel) {
    const std::uint32_t node = nodeNamedBy(graph, kernel);
    return node == kNone ? std::string() : file.nodes[node].name;
  };
  EXPECT_EQ(named("n14"), "n14");
  EXPECT_EQ(named("n14/MatMulScaleFusion//MatMulTransposeFusion/"), "n14");
  EXPECT_EQ(named("n14_token_3"), "n14");
  EXPECT_EQ(named("fused n14"), "n14");
  EXPECT_EQ(named("a/b/MatMulAddFusion_token_7"), "a/b") << "a name may hold what ONNX Runtime appends";
  EXPECT_EQ(named("SkipLayerNormalization_token_57"), "");
  EXPECT_EQ(named(""), "");
  EXPECT_EQ(tensorNamedBy(graph, "v12_nchwc"), graph.findTensor("v12"));
  EXPECT_EQ(tensorNamedBy(graph, "v12_bn_nchwc"), graph.findTensor("v12"));
  EXPECT_EQ(tensorNamedBy(graph, "v12"), kNone) << "it is a node's name";
}

Json event(const char* category, const char* name, double start, double duration) {
  return {{"cat", category}, {"name", name}, {"ts", start}, {"dur", duration}};
}

TEST(OnnxRuntimeProfile, TakesMediansOfRunsButTheFirst) {
  Json events = Json::array();
  const double times[] = {900, 10, 30, 20};
  for (int run = 0; run < 4; ++run) {
    events.push_back(event("Node", "n1_kernel_time", 1000.0 * run + 1, times[run]));
    events.push_back(event("Session", "model_run", 1000.0 * run, 950));
  }
  const auto told = kernelTimesOf(events);
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(told.value(), (std::map<std::string, double>{{"n1", 0.02}}));
}

TEST(OnnxRuntimeProfile, CountsKernelsOfBodiesOnce) {
  Json events = Json::array();
  for (const double start : {0.0, 1000.0, 2000.0}) {
    events.push_back(event("Session", "model_run", start, 900));
    events.push_back(event("Node", "choose_kernel_time", start + 10, 100));
    events.push_back(event("Node", "n1_kernel_time", start + 20, 30));  // within the time of choose
    events.push_back(event("Node", "n1_kernel_time", start + 200, 50));
  }
  const auto told = kernelTimesOf(events);
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(told.value(), (std::map<std::string, double>{{"choose", 0.1}, {"n1", 0.05}}));
}

TEST(OnnxRuntimeProfile, RefusesWhatIsNone) {
  EXPECT_FALSE(kernelTimesOf(Json::object()).ok());
  EXPECT_FALSE(kernelTimesOf(Json::array()).ok()) << "no runs";
  EXPECT_FALSE(kernelTimesOf(Json::array({1})).ok());
  EXPECT_FALSE(kernelTimesOf(Json::array({event("Session", "model_run", 0, -1)})).ok());
  EXPECT_FALSE(kernelTimesOf(Json::array({event("Session", "model_run", 0, 10)})).ok()) << "one run";
}

TEST(OnnxRuntimeProfile, OfATransformer) {
  FUSESCOPE_REQUIRE_SHARED();
  Json profile;
  std::ifstream(*test::sharedFolder() / "data" / "readback" / "bert_tiny.ort-profile.json") >> profile;
  const auto told = kernelTimesOf(profile);
  ASSERT_TRUE(told.ok()) << told.error().text();
  EXPECT_EQ(told.value().size(), 85U) << "as many as the optimised network has nodes";
  EXPECT_TRUE(told.value().contains("node_MatMul_99/MatMulScaleFusion/"));
}

TEST(OnnxRuntimeNumbers, AreComparedInTheirLayout) {
  const Tensor handed = Tensor::copyOf<float>(DataType::F32, {1, 3, 1, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor last = Tensor::copyOf<float>(DataType::F32, {1, 1, 2, 3}, std::vector<float>{1, 3, 5, 2, 4, 6});
  std::vector<float> blocks(16, 0);
  for (std::size_t place = 0; place < 2; ++place)
    for (std::size_t channel = 0; channel < 3; ++channel)
      blocks[place * 8 + channel] = static_cast<float>(channel * 2 + place + 1);
  const Tensor blocked = Tensor::copyOf<float>(DataType::F32, {1, 8, 1, 2}, blocks);
  EXPECT_TRUE(areEqual(handed, Layout::Plain, handed, false));
  EXPECT_TRUE(areEqual(last, Layout::ChannelsLast, handed, false));
  EXPECT_FALSE(areEqual(last, Layout::Plain, handed, false));
  EXPECT_TRUE(areEqual(blocked, Layout::Blocked, handed, false));
  EXPECT_FALSE(areEqual(handed, Layout::Blocked, handed, false)) << "it has no place for a block";
}

TEST(OnnxRuntimeNumbers, OfCodesMayDifferByAStep) {
  const auto codes = [](std::vector<std::uint8_t> values) {
    return Tensor::copyOf<std::uint8_t>(DataType::U8, {static_cast<std::int64_t>(values.size())}, values);
  };
  EXPECT_TRUE(areEqual(codes({1, 2, 4}), Layout::Plain, codes({1, 3, 5}), true));
  EXPECT_FALSE(areEqual(codes({1, 2, 4}), Layout::Plain, codes({1, 3, 5}), false)) << "bytes that are no codes";
  EXPECT_FALSE(areEqual(codes({1, 2, 4}), Layout::Plain, codes({9, 9, 9}), true));
  const Tensor isSigned = Tensor::copyOf<std::int8_t>(DataType::I8, {2}, std::vector<std::int8_t>{-128, 5});
  EXPECT_TRUE(areEqual(codes({0, 133}), Layout::Plain, isSigned, true)) << "as unsigned ones";
  const auto numbers = [](std::vector<float> values) {
    return Tensor::copyOf<float>(DataType::F32, {static_cast<std::int64_t>(values.size())}, values);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(areEqual(numbers({nan, 1}), Layout::Plain, numbers({nan, 1}), false));
  EXPECT_FALSE(areEqual(numbers({nan, 1}), Layout::Plain, numbers({0, 1}), false));
  EXPECT_FALSE(areEqual(numbers({1, 2}), Layout::Plain, numbers({1, 2.5}), false));
}

/// A network handed over as `handed`: a product and what follows it.
struct Handed {
  using Options = std::map<std::string, std::string>;
  explicit Handed(Options options = {}) {
    testing::ModelBuilder m;
    const ValueId x = m.input("x", {4, 8});
    const ValueId h = m.node("MatMul", "product", {x, m.weight("w", {8, 8})}, {4, 8});
    m.output(m.node("Relu", "relu", {h}, {4, 8}));
    PlanOptions planned = testing::cpuOptions({parsePin("product=f16").value()});
    planned.compilerOptions = std::move(options);
    const auto plan = testing::planned(m.build(), planned);
    network.plan = plan;
    for (const NodeId id : plan->graph().order()) network.nodes["n" + std::to_string(id.index)] = {id};
    network.pins.push_back(
        {.node = plan->graph().order().front(), .type = DataType::F16, .isExpressible = false, .how = {}});
  }
  CompilerInput network{.plan = nullptr, .path = {}, .folder = nullptr, .file = {}};
};

TEST(OnnxRuntimeOptions, AreThoseOfThePlan) {
  Handed handed(Handed::Options{{"level", "extended"}, {"disable", "MatMulAddFusion, NchwcTransformer,"}});
  const auto options = requestOptions(handed.network, {.threads = 3});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options.value(), (Json{{"threads", 3},
                                   {"level", "extended"},
                                   {"disable", {"MatMulAddFusion", "NchwcTransformer"}},
                                   {"provider", "CPUExecutionProvider"},
                                   {"tf32", "default"}}));
  EXPECT_TRUE(handed.network.pins.front().isExpressible);
  EXPECT_FALSE(handed.network.pins.front().how.empty());
  Handed wrong(Handed::Options{{"level", "most"}});
  ASSERT_FALSE(requestOptions(wrong.network, {}).ok());
  EXPECT_EQ(requestOptions(wrong.network, {}).error().where.attribute, "level");
}

TEST(OnnxRuntimeOptions, AMisspeltOptimiserIsRefusedAndAnUnknownOneIsADecision) {
  Handed misspelt(Handed::Options{{"disable", "NchwcTransformer,MatMulAddFusio"}});
  const auto refused = requestOptions(misspelt.network, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "ONNX Runtime has no optimiser 'MatMulAddFusio' that disable could leave out");
  EXPECT_NE(refused.error().help.find("MatMulAddFusion"), std::string::npos) << refused.error().help;
  Handed later(Handed::Options{{"disable", "GeluFusionL3,Level2_RuleBasedTransformer,Unheard"}});
  EXPECT_TRUE(requestOptions(later.network, {}).ok()) << "a later version may have it";
  ReadBack told;
  addUnknownOptimisers(*later.network.plan, told);
  ASSERT_EQ(told.decisions.size(), 2U);
  EXPECT_EQ(told.decisions[0].code, "build.optimiser_unknown");
  EXPECT_EQ(message(told.decisions[1]),
            "onnxruntime was asked to leave out Unheard, which is not a known name of an optimiser, so that it may have "
            "no effect");
}

TEST(OnnxRuntimeOptions, OtherProvidersAreDecisions) {
  const Handed handed;
  ReadBack told;
  addProviders(
      handed.network,
      {{"providers", {"A", "B"}},
       {"assignment", {{{"provider", "A"}, {"nodes", {"n0"}}}, {{"provider", "B"}, {"nodes", {"n1", "n9", 3}}}}}},
      told);
  ASSERT_EQ(told.decisions.size(), 1U);
  EXPECT_EQ(told.decisions[0].code, "build.other_provider");
  EXPECT_EQ(message(told.decisions[0]), "the execution provider B runs it, not the requested A");
  EXPECT_EQ(told.compiler.options.at("provider"), "A");
  for (const Json& answer : {Json(), Json(3), Json{{"providers", 1}, {"assignment", {1}}}, Json{{"assignment", 2}}})
    addProviders(handed.network, answer, told);
  EXPECT_EQ(told.decisions.size(), 1U);
}

}  // namespace
}  // namespace fusescope
