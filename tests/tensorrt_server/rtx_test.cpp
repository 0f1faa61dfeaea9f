// The part of the probe for TensorRT for servers over a real compiler: TensorRT for RTX under its name
// (rtx/tensorrt.py).
#include <fmt/format.h>

#include <map>

#include "tests/unit/compilers/tensorrt_rtx_testing.h"

namespace fusescope::test {
namespace {

const ProbedKind& server() {
  return *findProbedKind("tensorrt");
}

PlanOptions serverOptions(std::vector<DataType> precisions = {}) {
  return {.compiler = "tensorrt", .target = std::string(server().target()), .precisions = std::move(precisions)};
}

std::unique_ptr<ProbeJob> serverJob() {
  static const TemporaryFolder configuration;
  ::setenv("XDG_CONFIG_HOME", configuration.path().c_str(), 1);
  const std::string python = fmt::format("env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={}/rtx {}", STAND_INS, rtxPython());
  EXPECT_TRUE(confirm(python).ok());
  auto job = ProbeJob::start({.name = "test", .command = python}, server().name(), {});
  EXPECT_TRUE(job.ok()) << (job.ok() ? "" : job.error().text());
  return job.ok() ? std::move(job).value() : nullptr;
}

Result<ProbeAnswer> ask(ProbeJob& job, const std::string& op, CompilerInput& network, const Progress& progress = {}) {
  const Json asked = TRY(server().requestOptions(network, {}));
  return job.ask({.json = {{"op", op}, {"options", asked}}, .files = filesOf(network)}, {}, progress);
}

TEST(ServerOverRtx, TellsWhatTheOtherKindReadsOfTheSameBuild) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  for (const char* name : {"bert_tiny", "squeezenet1_1"}) {
    SCOPED_TRACE(name);
    const auto path = networkWithWeights(name);
    if (!path) GTEST_SKIP() << "the network is not there";
    const auto plan = plannedFile(*path, serverOptions({DataType::F16}));
    ASSERT_NE(plan, nullptr);
    auto handed = makeCompilerInput(plan, server().inputTypesFor(*plan), {});
    ASSERT_TRUE(handed.ok()) << handed.error().text();
    const auto job = serverJob();
    ASSERT_NE(job, nullptr);
    std::map<std::string, int> phases;
    const auto compiled = ask(*job, "compile", handed.value(),
                              [&](std::string_view phase, std::string_view) { ++phases[std::string(phase)]; });
    ASSERT_TRUE(compiled.ok()) << compiled.error().text();
    EXPECT_GT(phases["build"], 1) << "its monitor tells how far it is";
    const auto told = server().readBack(handed.value(), compiled.value());
    ASSERT_TRUE(told.ok()) << told.error().text();
    const auto theirs = rtx().readBack(handed.value(), compiled.value());
    ASSERT_TRUE(theirs.ok()) << theirs.error().text();
    ASSERT_EQ(told.value().kernels.size(), theirs.value().kernels.size());
    for (std::size_t i = 0; i < told.value().kernels.size(); ++i) {
      EXPECT_EQ(told.value().kernels[i].name, theirs.value().kernels[i].name);
      for (const auto& [node, certainty] : theirs.value().kernels[i].nodes) {
        const auto& nodes = told.value().kernels[i].nodes;
        const bool isHeld = std::ranges::any_of(nodes, [&](const auto& held) { return held.first == node; });
        EXPECT_TRUE(isHeld || certainty != Certainty::Named)
            << told.value().kernels[i].name << " lacks " << plan->graph().node(node).name;
      }
    }
    const auto made = readBackPlan(plan, told.value());
    ASSERT_TRUE(made.ok()) << made.error().text();
    EXPECT_FALSE(made.value()->placement) << "it was built, not read from files of others";
  }
}

TEST(ServerOverRtx, SaysWhatItsParserRefusesAndWhereABuildFails) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  Handed handed("net (float[4,4] x) => (float z) { [relu] a = Relu (x) [det] b = Det (a) [last] z = Exp (b) }",
                serverOptions());
  const auto job = serverJob();
  ASSERT_NE(job, nullptr);
  const auto answer = ask(*job, "support", handed.network());
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  const auto support = server().support(handed.network(), answer.value());
  ASSERT_TRUE(support.ok()) << support.error().text();
  ASSERT_NE(support.value().find("det"), nullptr);
  EXPECT_EQ(support.value().find("det")->isAccepted, false);
  const auto compiled = ask(*job, "compile", handed.network());
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(server().failedAt(handed.network(), compiled.error()), *handed.graph().findNode("det"));
}

/// What is asked of both for a target whose types are those of layers.
TEST(TypesOfLayers, AreThoseOfPinsAndWhatIsAllowed) {
  PlanOptions options = serverOptions({DataType::F16});
  options.target = "tensorrt-10";
  options.directives = {testing::withId(testing::pin("last=f32"), "p1"),
                        testing::withId(parseOutputType("first=f32").value(), "p2")};
  Handed handed(R"(net (float[4,4] x) => (float[4,4] y) <float s = {0.5}, int8 z = {0}> {
    [first] a = Exp (x)
    [quantise] q = QuantizeLinear (a, s, z)
    [back] d = DequantizeLinear (q, s, z)
    [last] y = Tanh (d)
  })",
                options);
  for (const char* name : {"tensorrt", "trtexec"}) {
    const Json asked = findProbedKind(name)->requestOptions(handed.network(), {.threads = 2}).value();
    EXPECT_EQ(asked["typing"], "layers");
    EXPECT_EQ(asked["allowed"], (Json{"f16", "int8"})) << "codes of the network need it: " << asked.dump();
    EXPECT_EQ(asked["constraints"], "prefer");
    EXPECT_EQ(asked["precisions"], (Json{{"n3", "f32"}}));
    EXPECT_EQ(asked.contains("threads"), name == std::string("tensorrt"));
    ASSERT_EQ(handed.network().pins.size(), 1U);
    EXPECT_TRUE(handed.network().pins[0].isExpressible) << handed.network().pins[0].how;
  }
  Handed strong("net (float[4,4] x) => (float[4,4] y) { [last] y = Tanh (x) }", serverOptions({DataType::F16}));
  EXPECT_EQ(server().requestOptions(strong.network(), {}).value(), (Json{{"typing", "strong"}}));
  EXPECT_EQ(server().inputTypesFor(*strong.plan()), CompilerInputTypes::AsPlanned);
  EXPECT_EQ(server().inputTypesFor(*handed.plan()), CompilerInputTypes::AsInFile);
}

TEST(ServerOverRtx, HasNoTypesOfLayersAndNoCard) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  PlanOptions options = serverOptions();
  options.target = "tensorrt-10";
  Handed handed("net (float[4,4] x) => (float[4,4] y) { [relu] y = Relu (x) }", options);
  const auto job = serverJob();
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->opened()["about"]["layer_precisions"], false);
  const auto compiled = ask(*job, "compile", handed.network());
  ASSERT_FALSE(compiled.ok());
  EXPECT_NE(compiled.error().message.find("has no layer precisions"), std::string::npos) << compiled.error().text();
  EXPECT_FALSE(compiled.error().where.attribute.empty()) << "no node is to blame";
  if (job->opened()["devices"].empty()) {
    EXPECT_NE(server().whyNot(Ability::Compile, job->opened()), "");
  }
}

}  // namespace
}  // namespace fusescope::test
