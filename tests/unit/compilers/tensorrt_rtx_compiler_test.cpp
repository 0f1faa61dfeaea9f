// TensorRT for RTX as a compiler that a probe reaches: what it is asked, what it answers, and where it fails.
#include <fmt/format.h>

#include "compilers/tensorrt_rtx/build_log.h"
#include "compilers/tensorrt_rtx/layer_reader.h"
#include "onnxlib/onnxlib.h"
#include "tests/unit/compilers/tensorrt_rtx_testing.h"

namespace fusescope::test {
namespace {

constexpr const char* kSmall = R"(
net (float[4,8] x) => (float[4,8] y) { [relu] a = Relu (x) [det] b = Tanh (a) [last] y = Exp (b) })";

TEST(TensorrtRtx, IsACompilerThatAProbeReaches) {
  EXPECT_EQ(rtx().title(), "TensorRT for RTX");
  EXPECT_EQ(rtx().inputTypes(), CompilerInputTypes::AsPlanned);
  ASSERT_EQ(rtx().options().size(), 1U);
  const CompilerOption capability = rtx().options().front();
  EXPECT_EQ(capability.name, "sm");
  EXPECT_EQ(capability.initial, "89");
  EXPECT_EQ(std::ranges::count(capability.values, capability.initial), 1);
}

TEST(TensorrtRtx, OnlyRunningIsUntried) {
  EXPECT_EQ(rtx().untried(), "") << "networks are compiled and read back in tests";
  EXPECT_NE(rtx().untriedToRun().find("on a card"), std::string::npos);
  for (const char* tried : {"onnxruntime", "openvino"}) EXPECT_EQ(findProbedKind(tried)->untriedToRun(), "") << tried;
}

TEST(TensorrtRtx, WithoutACardItCompilesAndDoesNotRun) {
  const Json none{{"devices", Json::array()}, {"about", {{"why_no_device", "There is no driver."}}}};
  const Json capabilities{{"sm", {"86", "89"}}};
  const Json card{{"devices", {{{"name", "a card"}, {"sm", "89"}}}}, {"about", capabilities}};
  const Json other{{"devices", {{{"name", "another card"}, {"sm", "90"}}}}, {"about", capabilities}};
  for (const Ability ability : {Ability::Support, Ability::Compile, Ability::ReadBack}) {
    EXPECT_EQ(rtx().whyNot(ability, none), "") << name(ability);
    EXPECT_EQ(rtx().whyNot(ability, Json()), "") << name(ability);
  }
  for (const Ability ability : {Ability::Run, Ability::Time, Ability::Profile}) {
    EXPECT_NE(rtx().whyNot(ability, none).find("There is no driver."), std::string::npos) << name(ability);
    EXPECT_NE(rtx().whyNot(ability, Json()), "") << name(ability);
    EXPECT_EQ(rtx().whyNot(ability, card), "") << name(ability);
    EXPECT_NE(rtx().whyNot(ability, other).find("another card is not an RTX card"), std::string::npos) << name(ability);
  }
  for (const Ability ability : {Ability::InnerValues, Ability::Keep}) EXPECT_NE(rtx().whyNot(ability, card), "");
}

TEST(TensorrtRtx, IsAskedForTheCapabilityTheLimitAndTheThreads) {
  PlanOptions options = rtxOptions();
  Handed usual(kSmall, options);
  EXPECT_EQ(rtx().requestOptions(usual.network(), {}).value(), (Json{{"sm", "89"}}));
  options.compilerOptions["sm"] = "120";
  options.workspaceBytes = 1 << 20;
  Handed other(kSmall, options);
  EXPECT_EQ(rtx().requestOptions(other.network(), {.threads = 3}).value(),
            (Json{{"sm", "120"}, {"threads", 3}, {"workspace", 1 << 20}}));
}

TEST(TensorrtRtx, OpenExtentsAreAskedForAsTheInputsMayHaveThem) {
  Handed handed("net (float[N,8] x, float[2] z) => (float[N,8] y) { [relu] y = Relu (x) }");
  const InputSpec& spec = handed.plan()->inputSpecs.at(0);
  const Json asked = rtx().requestOptions(handed.network(), {.shapes = {{"x", {3, 8}}}}).value();
  ASSERT_EQ(asked["profile"].size(), 1U) << asked.dump();
  const Json& extents = asked["profile"].front();
  EXPECT_EQ(asked["profile"].begin().key(), handed.network().file.graph.inputs.at(0).name);
  EXPECT_EQ(extents["min"], Json(spec.min));
  EXPECT_EQ(extents["opt"], (Json{3, 8}));
  EXPECT_EQ(extents["max"], Json(spec.max));
  EXPECT_EQ(rtx().requestOptions(handed.network(), {}).value()["profile"].front()["opt"], Json(spec.opt));
}

TEST(TensorrtRtx, WhatTheParserRefusesIsAVerdictInItsWords) {
  Handed handed(kSmall);
  const Json refusal{{"code", "UNSUPPORTED_NODE"}, {"node", "n1"}, {"operator", "Tanh"}, {"text", "n1 is not for v1"}};
  const auto support =
      rtx().support(handed.network(), {.json = {{"is_supported", false}, {"refusals", {refusal}}}, .files = {}});
  ASSERT_TRUE(support.ok());
  ASSERT_EQ(support.value().nodes.size(), 1U) << "nothing is known of the others until they are asked for alone";
  const NodeSupport& said = support.value().nodes.front();
  EXPECT_EQ(said.node, "det");
  EXPECT_EQ(said.isAccepted, false);
  EXPECT_EQ(said.code, "validate.compiler_refused");
  EXPECT_EQ(said.message, "UNSUPPORTED_NODE: det is not for a");
  EXPECT_EQ(said.foundBy, SupportSource::Parser);
}

TEST(TensorrtRtx, ARefusalInsideIsOfTheNodeThatHoldsIt) {
  Handed handed(kSmall);
  const auto refusedFor = [&](const Json& stack) {
    const Json refusal{{"code", "C"}, {"node", "n7"}, {"operator", "Det"}, {"text", "t"}, {"stack", stack}};
    const auto support =
        rtx().support(handed.network(), {.json = {{"is_supported", false}, {"refusals", {refusal}}}, .files = {}});
    return support.ok() ? support.value().nodes.front().node : "";
  };
  EXPECT_EQ(refusedFor({"n1 (If)", "t (then_branch)"}), "det");
  EXPECT_EQ(refusedFor({"n2 (twice)"}), "last");
  EXPECT_EQ(refusedFor({"n9 (If)"}), "");
  EXPECT_EQ(refusedFor(3), "");
  EXPECT_EQ(rtx().failedAt(handed.network(), {.message = "n7 (Det) in t (then_branch) in n1 (If): C: t"}),
            *handed.graph().findNode("det"));
}

TEST(TensorrtRtx, ASupportedNetworkIsTakenWhole) {
  Handed handed(kSmall);
  const auto support =
      rtx().support(handed.network(), {.json = {{"is_supported", true}, {"refusals", Json::array()}}, .files = {}});
  ASSERT_TRUE(support.ok());
  ASSERT_EQ(support.value().nodes.size(), 3U);
  for (const NodeSupport& said : support.value().nodes) EXPECT_EQ(said.isAccepted, true) << said.node;
}

TEST(TensorrtRtx, ARefusalOfNoNodeIsAnEntryWithoutANode) {
  Handed handed(kSmall);
  const Json wordless{{"code", "INVALID_GRAPH"}, {"node", ""}, {"operator", ""}, {"text", "not a network"}};
  const Json named{{"code", "UNSUPPORTED_NODE"}, {"node", "n1"}, {"operator", "Det"}, {"text", "t"}};
  const auto support = rtx().support(
      handed.network(), {.json = {{"is_supported", false}, {"refusals", {named, wordless, wordless}}}, .files = {}});
  ASSERT_TRUE(support.ok()) << support.error().text();
  ASSERT_EQ(support.value().nodes.size(), 2U);
  const NodeSupport* refusal = refusalOfNoNode(support.value());
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->message, "TensorRT for RTX cannot read a network with it: INVALID_GRAPH: not a network");
  EXPECT_EQ(support.value().nodes.back().node, "det");
  EXPECT_FALSE(
      rtx().support(handed.network(), {.json = {{"is_supported", false}, {"refusals", Json{3}}}, .files = {}}).ok());
  EXPECT_TRUE(rtx().support(handed.network(), {.json = Json::object(), .files = {}}).ok());
}

TEST(TensorrtRtx, ABuildFailedAtTheNodeThatItsErrorNames) {
  Handed handed(kSmall);
  const auto failedAt = [&](const std::string& message) {
    const NodeId node = rtx().failedAt(handed.network(), {.message = message});
    return node.valid() ? handed.graph().node(node).name : "";
  };
  EXPECT_EQ(failedAt("Error Code 2: Assertion !layerImpls.empty() failed. n1_0 has no runners that implement it"),
            "det");
  EXPECT_EQ(failedAt("n2 (Exp): UNSUPPORTED_NODE: false\nn1 (Tanh): UNSUPPORTED_NODE: false"), "last");
  EXPECT_EQ(failedAt("cannot compile {ForeignNode[n0...n2]}\nn1 is why"), "det");
  EXPECT_EQ(failedAt("cannot compile {ForeignNode[n0...n2]}"), "");
  EXPECT_EQ(failedAt("n9 is none of it, and run1 no number"), "");
}

TEST(TensorrtRtx, TheTimeOfAKernelIsTheMedianOfItsRuns) {
  Handed handed(kSmall);
  const TemporaryFolder folder;
  const auto times = [&](const std::string& profile) {
    return rtx().kernelTimes(handed.network(),
                             {.json = Json::object(), .files = {{"profile.json", folder.write("p.json", profile)}}});
  };
  const auto read =
      times(R"([[["n0_myl0_0", 3], ["k", 1]], [["n0_myl0_0", 1], ["k", 1]], [["n0_myl0_0", 2], ["k", 1]]])");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value(), (std::map<std::string, double>{{"relu_myl0_0", 2}, {"k", 1}}));
  for (const char* bad : {"", "{}", "[3]", "[[3]]", "[[[\"k\"]]]", "[[[3, 3]]]"}) EXPECT_FALSE(times(bad).ok()) << bad;
  EXPECT_FALSE(rtx().kernelTimes(handed.network(), {.json = Json::object(), .files = {}}).ok());
}

// With the package itself.

TEST(TensorrtRtxPackage, SaysWhichNodesItRefuses) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  Handed handed("net (float[4,4] x) => (float z) { [relu] a = Relu (x) [det] b = Det (a) [last] z = Exp (b) }");
  const auto job = rtxJob();
  ASSERT_NE(job, nullptr);
  const auto answer = askRtx(*job, "support", handed.network());
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  const auto support = rtx().support(handed.network(), answer.value());
  ASSERT_TRUE(support.ok());
  const NodeSupport* refused = support.value().find("det");
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->isAccepted, false);
  EXPECT_NE(refused->message.find("UNSUPPORTED_NODE"), std::string::npos) << refused->message;
  EXPECT_EQ(support.value().find("relu"), nullptr);
  const auto compiled = askRtx(*job, "compile", handed.network());
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(handed.graph().node(rtx().failedAt(handed.network(), compiled.error())).name, "det");
}

TEST(TensorrtRtxPackage, SaysWhichNodeHoldsWhatItRefuses) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  Handed handed(R"(net (float[4,4] x, bool c) => (float y) {
    [relu] a = Relu (x)
    [choice] y = If (c) <
      then_branch = t () => (float o) { [det] o = Det (a) },
      else_branch = e () => (float p) { [max] p = ReduceMax <keepdims = 0> (a) }>
  })");
  const auto job = rtxJob();
  ASSERT_NE(job, nullptr);
  const auto answer = askRtx(*job, "support", handed.network());
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  const auto support = rtx().support(handed.network(), answer.value());
  ASSERT_TRUE(support.ok()) << support.error().text();
  ASSERT_NE(support.value().find("choice"), nullptr);
  EXPECT_EQ(support.value().find("choice")->isAccepted, false);
  const auto compiled = askRtx(*job, "compile", handed.network());
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(rtx().failedAt(handed.network(), compiled.error()), *handed.graph().findNode("choice"));
}

TEST(TensorrtRtxPackage, NamesTheNodeThatItsBuildCannotCompile) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  Handed handed(R"(net (float[1,6,4] x, float[1,1,6] s) => (int64[N,3] y)
      <int64 most = {3}, float overlap = {0.5}, float least = {0.1}> {
    [relu] boxes = Relu (x)
    [nms] y = NonMaxSuppression (boxes, s, most, overlap, least)
  })");
  const auto job = rtxJob();
  ASSERT_NE(job, nullptr);
  const auto answer = askRtx(*job, "support", handed.network());
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer.value().json["is_supported"], true);
  const auto compiled = askRtx(*job, "compile", handed.network());
  ASSERT_FALSE(compiled.ok());
  const NodeId failed = rtx().failedAt(handed.network(), compiled.error());
  ASSERT_TRUE(failed.valid()) << compiled.error().text();
  EXPECT_EQ(handed.graph().node(failed).name, "nms");
}

TEST(TensorrtRtxPackage, AnotherCapabilityMayRefuseATypeAndTheCardThereIsNone) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  const auto job = rtxJob();
  ASSERT_NE(job, nullptr);
  PlanOptions options = rtxOptions();
  const char* graph = "net (bfloat16[4,8] x) => (bfloat16[4,4] y) { [t] a = Transpose (x) [m] y = MatMul (x, a) }";
  options.compilerOptions["sm"] = "80";
  Handed ampere(graph, options);
  const auto made = askRtx(*job, "compile", ampere.network());
  EXPECT_TRUE(made.ok()) << made.error().text();
  options.compilerOptions["sm"] = "75";
  Handed turing(graph, options);
  EXPECT_FALSE(askRtx(*job, "compile", turing.network()).ok());
  options.compilerOptions["sm"] = "1";
  Handed ancient(graph, options);
  const auto unknown = askRtx(*job, "compile", ancient.network());
  ASSERT_FALSE(unknown.ok());
  EXPECT_FALSE(unknown.error().where.attribute.empty()) << "no node is to blame: " << unknown.error().text();
  if (!job->opened()["devices"].empty()) return;
  options.compilerOptions["sm"] = "CURRENT";
  Handed current(graph, options);
  const auto none = askRtx(*job, "compile", current.network());
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().text().find("no card"), std::string::npos) << none.error().text();
  EXPECT_FALSE(none.error().where.attribute.empty()) << "no node is to blame";
  const auto run = job->ask({.json = {{"op", "run"}}, .files = {}}, {});
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().text().find("card"), std::string::npos) << run.error().text();
}

TEST(TensorrtRtxPackage, WhatBecameOfTypesIsReadBack) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  PlanOptions options = rtxOptions({DataType::F16});
  options.directives.push_back(testing::withId(testing::pin("last=f32"), "p1"));
  Handed handed(R"(net (float[32,32] x) => (float[32,32] y) {
    [first] a = MatMul (x, x)
    [second] b = MatMul (a, a)
    [last] y = Softmax (b)
  })",
                options);
  const auto job = rtxJob();
  ASSERT_NE(job, nullptr);
  const auto compiled = askRtx(*job, "compile", handed.network());
  ASSERT_TRUE(compiled.ok()) << compiled.error().text();
  const auto told = rtx().readBack(handed.network(), compiled.value());
  ASSERT_TRUE(told.ok()) << told.error().text();
  EXPECT_EQ(told.value().compiler.options.at("sm"), "89");
  const auto made = readBackPlan(handed.plan(), told.value());
  ASSERT_TRUE(made.ok()) << made.error().text();
  const auto typeOf = [&](const char* node) {
    return made.value()->fusedNodeOf(*handed.graph().findNode(node))->compute;
  };
  EXPECT_EQ(typeOf("first"), DataType::F16);
  EXPECT_EQ(typeOf("second"), DataType::F16);
  ASSERT_EQ(made.value()->pins.size(), 1U);
  EXPECT_NE(made.value()->pins[0].result, PinResult::NotDisclosed) << made.value()->pins[0].why;
}

}  // namespace
}  // namespace fusescope::test
