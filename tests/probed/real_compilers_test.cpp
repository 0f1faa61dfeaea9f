// ONNX Runtime and OpenVINO, through every command. Skipped where FUSESCOPE_COMPILERS_PYTHON names no Python that has
// them (scripts/test sets it).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "onnxlib/onnx_text.h"
#include "tests/probed/real_compilers_fixture.h"
#include "tests/support/command_json.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace fusescope::test {
namespace {

/// An operator in the middle that neither of them has.
constexpr const char* kCustom = R"(<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>
net (float[2, 4, 4] x) => (float[2, 4, 2] y)
  <float[4] b = {1, -1, 0.5, 0.25}, float[4, 4] w = {1,2,0,0, 0,1,2,0, 0,0,1,2, 2,0,0,1}, float[2, 2] v = {1,2, -1,1}> {
  [before] h = MatMul (x, w)
  [custom] g = com.microsoft.BiasSplitGelu (h, b)
  [behind] p = MatMul (g, v)
  [last] y = Relu (p)
})";

/// A node with bodies, which capture a value, between two others.
constexpr const char* kBranches = R"(<ir_version: 8, opset_import: ["" : 18]>
net (float[2, 4] x, bool c) => (float[2, 4] y) <float[4, 4] w = {1,2,0,0, 0,1,2,0, 0,0,1,2, 2,0,0,1}> {
  [before] h = MatMul (x, w)
  [scale] s = Softmax (h)
  [choice] b = If (c) <
    then_branch = t () => (float[2, 4] a) { [sum] m = Add (s, h) [tanh] a = Tanh (m) },
    else_branch = e () => (float[2, 4] a2) { [product] m2 = MatMul (s, w) [sigmoid] a2 = Sigmoid (m2) }>
  [last] y = Relu (b)
})";

/// A convolution, and behind it extents that depend on data, which bodies capture: what is asked before them has known
/// extents.
constexpr const char* kPlaces = R"(<ir_version: 8, opset_import: ["" : 18]>
net (float[1, 1, 4, 4] x) => (float[1, 2, 4, 4] z, float[N, 4] y) <float[2, 1, 1, 1] w = {1, -1}, float two = {2}> {
  [convolve] h = Conv (x, w)
  [clip] c = Relu (h)
  [places] p = NonZero (c)
  [turned] t = Transpose (p)
  [count] n = Size (t)
  [number] f = Cast <to: int = 1> (n)
  [doubled] d = Mul (f, two)
  [some] b = Cast <to: int = 9> (d)
  [choice] y = If (b) <
    then_branch = have () => (float[N, 4] u) { [up] u = Cast <to: int = 1> (t) },
    else_branch = lack () => (float[N, 4] v) { [lift] l = Cast <to: int = 1> (t) [down] v = Neg (l) }>
  [turn] z = Neg (c)
})";

class RealCompilers : public RealCompilersFixture {
 protected:
  static Json json(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--compiler", GetParam()});
    return commandJson(std::move(arguments));
  }
  static std::string sample(std::string_view network) { return (sampleFolder(network) / "model.onnx").string(); }
  static std::string arrays(std::string_view network) { return sampleInputs(network); }
  static void expectNumbers(const std::string& model, const std::string& io,
                            const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"run", model, "--compiler", GetParam(), "--inputs", io, "--expect", io};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult run = fusescopeCommand(arguments);
    EXPECT_EQ(run.status, 0) << model << "\n" << run.out << run.err;
  }
  /// Of a plan: how many nodes have each fate, after each node of it has exactly one.
  static std::map<std::string, int> fates(const Json& plan) {
    std::map<std::string, int> counts;
    std::set<std::string> nodes;
    for (const Json& node : plan["nodes"]) {
      EXPECT_TRUE(nodes.insert(node["node"]).second) << node.dump();
      ++counts[node["fate"]];
    }
    return counts;
  }
};

TEST_P(RealCompilers, GiveWhatIsExpected) {
  for (const char* network : {"bert_tiny", "moe_dense", "tiny_resnet_dynbatch", "long_double"})
    expectNumbers(sample(network), arrays(network));
}

TEST_P(RealCompilers, TellOfEveryNode) {
  for (const char* network : {"bert_tiny", "tiny_resnet_dynbatch", "squeezenet1_1"}) {
    SCOPED_TRACE(network);
    const Json plan = json({"plan", sample(network)});
    EXPECT_EQ(plan["compiler"]["name"], GetParam());
    EXPECT_FALSE(plan["kernels"].empty());
    auto counts = fates(plan);
    EXPECT_GT(counts["kernel"], 0);
    EXPECT_EQ(counts["fallback"], 0);
    EXPECT_EQ(counts["not_disclosed"], 0) << Json(counts).dump();
  }
}

TEST_P(RealCompilers, BodiesRun) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto model = zooModel("control_flow_if");
  ASSERT_TRUE(model);
  expectNumbers(model->string(), (model->parent_path() / "io.npz").string());
}

TEST_P(RealCompilers, ANetworkCutInThreeGivesTheSame) {
  const std::vector<std::string> kept{"--fallback", "node_scaled_dot_product_attention"};
  expectNumbers(sample("bert_tiny"), arrays("bert_tiny"), kept);
  const Json plan = json({"plan", sample("bert_tiny"), kept[0], kept[1]});
  ASSERT_EQ(plan["segments"].size(), 3U);
  EXPECT_EQ(plan["segments"][1]["kind"], "fallback");
  EXPECT_EQ(fates(plan)["fallback"], 1);
}

/// Without the split, both compilers add node_linear_1's bias in the kernel of the product, or join the two otherwise.
TEST_P(RealCompilers, ASplitIsAKernelsEnd) {
  const std::string model = sample("bert_tiny"), split = "node_MatMul_62";
  const Json plan = json({"plan", model, "--split", split});
  ASSERT_EQ(plan["segments"].size(), 2U);
  std::set<std::string> before;
  for (const Json& node : plan["segments"][0]["nodes"]) before.insert(node.get<std::string>());
  EXPECT_TRUE(before.contains(split));
  for (const Json& kernel : plan["kernels"]) {
    int first = 0, second = 0;
    for (const Json& node : kernel["nodes"]) ++(before.contains(node["node"]) ? first : second);
    EXPECT_TRUE(first == 0 || second == 0) << kernel;
  }
  int obeyed = 0, ignored = 0;
  for (const Json& decision : plan["decisions"]) {
    obeyed += decision["code"] == "build.split_obeyed";
    ignored += decision["code"] == "build.split_ignored";
  }
  EXPECT_EQ(obeyed, 1);
  EXPECT_EQ(ignored, 0);
  EXPECT_EQ(fates(plan)["fallback"], 0) << "both parts are compiled";
  expectNumbers(model, arrays("bert_tiny"), {"--split", split});
  expectNumbers(model, arrays("bert_tiny"), {"--split", "op:MatMul"});
}

/// ONNX Runtime can leave out optimisers; OpenVINO cannot be asked for anything like it.
TEST_P(RealCompilers, AForbiddenFusionIsAskedOrHasNoEffect) {
  const std::string model = sample("bert_tiny");
  const bool canBeAsked = std::string(GetParam()) == "onnxruntime";
  const ProcessResult said =
      fusescopeCommand({"plan", model, "--compiler", GetParam(), "--no-fuse", "matmul_epilogue", "--json"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(said.err.find("has no effect on openvino") != std::string::npos, !canBeAsked) << said.err;
  const Json plan = Json::parse(said.out);
  std::map<std::string, int> codes;
  for (const Json& decision : plan["decisions"]) ++codes[decision["code"]];
  EXPECT_EQ(codes["fuse.no_fuse_honoured"] + codes["fuse.no_fuse"], 0);
  EXPECT_EQ(codes["fuse.no_fuse_asked"], canBeAsked ? 1 : 0);
  EXPECT_EQ(codes["fuse.without_effect"], canBeAsked ? 0 : 1);
  // SkipLayerNormalization still joins two Adds of one region, but nothing with its product.
  EXPECT_EQ(codes["build.no_fuse_obeyed"], canBeAsked ? 1 : 0) << Json(codes);
  EXPECT_EQ(codes["build.no_fuse_ignored"], 0) << Json(codes);
  expectNumbers(model, arrays("bert_tiny"), {"--no-fuse", "matmul_epilogue"});
}

TEST_P(RealCompilers, APartWithBodiesIsCutOut) {
  const auto bytes = onnxlib::onnxTextToBytes(kBranches);
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  const std::string model = m_folder.write("branches.onnx", bytes.value());
  const std::string outputs = m_folder / "ours.npz";
  const ProcessResult ours = fusescopeCommand({"run", model, "--outputs", outputs});
  ASSERT_EQ(ours.status, 0) << ours.err;
  const ProcessResult theirs =
      fusescopeCommand({"run", model, "--compiler", GetParam(), "--fallback", "scale", "--expect", outputs});
  EXPECT_EQ(theirs.status, 0) << theirs.out << theirs.err;
  const Json plan = json({"plan", model, "--fallback", "scale"});
  EXPECT_EQ(plan["segments"].size(), 3U);
  EXPECT_EQ(fates(plan)["fallback"], 1);
}

TEST_P(RealCompilers, WhatIsBeforeExtentsThatDependOnDataIsCompiled) {
  const auto bytes = onnxlib::onnxTextToBytes(kPlaces);
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  const std::string model = m_folder.write("places.onnx", bytes.value());
  const std::string outputs = m_folder / "ours.npz";
  const ProcessResult ours = fusescopeCommand({"run", model, "--outputs", outputs});
  ASSERT_EQ(ours.status, 0) << ours.err;
  const ProcessResult theirs =
      fusescopeCommand({"run", model, "--compiler", GetParam(), "--fallback", "places", "--expect", outputs});
  EXPECT_EQ(theirs.status, 0) << theirs.out << theirs.err;
  const Json plan = json({"plan", model, "--fallback", "places"});
  EXPECT_EQ(plan["segments"].size(), 2U) << plan["segments"].dump(1);
  for (const Json& node : plan["nodes"]) {
    const bool isBefore = node["node"] == "convolve" || node["node"] == "clip" || node["node"] == "turn";
    EXPECT_EQ(node["fate"] == "fallback", !isBefore) << node.dump();
  }
}

TEST_P(RealCompilers, AnOperatorThatTheyLackRunsOnOurOwnEngine) {
  const auto bytes = onnxlib::onnxTextToBytes(kCustom);
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  const std::string model = m_folder.write("custom.onnx", bytes.value());
  const std::string outputs = m_folder / "ours.npz";
  const ProcessResult ours = fusescopeCommand({"run", model, "--outputs", outputs});
  ASSERT_EQ(ours.status, 0) << ours.err;
  const ProcessResult theirs = fusescopeCommand({"run", model, "--compiler", GetParam(), "--expect", outputs});
  EXPECT_EQ(theirs.status, 0) << theirs.out << theirs.err;
  const Json plan = json({"plan", model});
  EXPECT_GT(fates(plan)["fallback"], 0);
  for (const Json& node : plan["nodes"]) {
    const bool isTheirs = node["node"] == "before" || node["node"] == "last";
    EXPECT_TRUE(!isTheirs || node["fate"] != "fallback") << node.dump();
  }
}

TEST_P(RealCompilers, TheirKernelsAreTimed) {
  const Json time = json({"time", sample("bert_tiny"), "--seconds", "0.2", "--warmup", "0.05", "--per-layer"});
  EXPECT_GT(time["median_ms"].get<double>(), 0);
  int timed = 0;
  for (const Json& kernel : time["layers"][0]["layers"]) timed += kernel["median_ms"].is_number();
  EXPECT_GT(timed, 20);
  EXPECT_FALSE(time["remark"].get<std::string>().empty());
}

TEST_P(RealCompilers, ErrorsOfLoweredTypesAreToldAtTheOutputs) {
  const Json errors = json({"errors", sample("bert_tiny"), "--precision", "bf16,f16", "--inputs", arrays("bert_tiny")});
  EXPECT_EQ(errors["compiler"], GetParam());
  ASSERT_EQ(errors["outputs"].size(), 1U);
  // Where tensors inside could be made outputs without other kernels, they have errors, too.
  EXPECT_EQ(errors["outputs_alone"].is_string(), errors["tensors"].size() == 1) << errors["outputs_alone"];
  EXPECT_TRUE(errors["outputs"][0]["carried"].is_object());
}

/// Codes that int8 puts into the network are no nodes of the network in float32, with which it is compared.
TEST_P(RealCompilers, ErrorsOfCodesAreTold) {
  const std::string ranges = m_folder / "ranges.json", io = arrays("digits");
  const ProcessResult calibrated = fusescopeCommand({"calibrate", sample("digits"), "--inputs", io, "-o", ranges});
  ASSERT_EQ(calibrated.status, 0) << calibrated.err;
  const Json errors = json({"errors", sample("digits"), "--precision", "int8", "--ranges", ranges, "--inputs", io});
  ASSERT_FALSE(errors["outputs"].empty()) << errors.dump(1);
  EXPECT_TRUE(errors["outputs"][0]["carried"].is_object());
}

/// Nobody knows what a type costs another compiler: by prices alone everything would stay in f32, with nothing to pin.
TEST_P(RealCompilers, ASearchForPinsBeginsWithTheNarrowerType) {
  const Json tuned = json({"tune", sample("bert_tiny"), "--precision", "f16,f32", "--inputs", arrays("bert_tiny"),
                           "--max-error", "1e-2", "--evaluations", "3", "-o", m_folder / "pins.json"});
  EXPECT_GT(tuned["pinnable"].get<int>(), 50);
  EXPECT_GT(tuned["unpinned"]["error"].get<double>(), 1e-5) << "lowered";
}

/// Otherwise a user would believe that the type was evaluated.
TEST_P(RealCompilers, EveryCommandSaysThatATypeIsNotGiven) {
  const bool hasType = std::string(GetParam()) == "openvino";  // it has f16, and grants bf16 on CPUs that lack it
  const std::string type = hasType ? "f16" : "bf16";
  const std::string sentence = hasType ? "OpenVINO was asked to calculate floats in f16, but it chose"
                                       : "bf16 was asked for, but onnxruntime does not calculate in bf16";
  const std::string model = sample("bert_tiny"), engine = m_folder / "e.fse";
  const auto saidBy = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--compiler", GetParam(), "--precision", type});
    return fusescopeCommand(arguments).out;
  };
  const auto expectSaid = [&](const std::vector<std::string>& arguments) {
    const std::string said = saidBy(arguments);
    EXPECT_NE(said.find(sentence), std::string::npos) << arguments[0] << ": " << said;
  };
  if (hasType && saidBy({"plan", model}).find(sentence) == std::string::npos)
    GTEST_SKIP() << "OpenVINO grants f16 on this CPU";
  expectSaid({"plan", model});
  expectSaid({"build", model, "-o", engine});
  expectSaid({"run", model});
  expectSaid({"time", model, "--seconds", "0.1", "--warmup", "0"});
  expectSaid({"errors", model});
  expectSaid({"compare", model, model, "--seconds", "0.1"});
  const Json built = json({"build", model, "-o", engine, "--precision", type});
  const char* code = hasType ? "build.hint_granted" : "precision.type_not_offered";
  EXPECT_TRUE(std::ranges::any_of(built["decisions"], [&](const Json& decision) { return decision["code"] == code; }))
      << built["decisions"];
  if (hasType) return;
  expectSaid({"errors", model, "--bisect"});
  const std::vector<std::string> tune{"tune", model, "--evaluations", "2", "-o", m_folder / "pins.json"};
  expectSaid(tune);
  EXPECT_EQ(saidBy(tune).find("no pin is needed"), std::string::npos) << "nothing was lowered, so nothing is found";
}

TEST_P(RealCompilers, ALimitThatTheyDoNotHaveIsRefused) {
  const ProcessResult refused =
      fusescopeCommand({"plan", sample("bert_tiny"), "--compiler", GetParam(), "--workspace", "1000000"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("has no limit of the scratch memory of a kernel"), std::string::npos) << refused.err;
}

TEST_P(RealCompilers, AnEngineIsCompiledAgainWhereItIsOpened) {
  const std::string engine = m_folder / "e.fse";
  json({"build", sample("bert_tiny"), "-o", engine});
  const std::string io = arrays("bert_tiny");
  const ProcessResult run = fusescopeCommand({"run", engine, "--inputs", io, "--expect", io});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST_P(RealCompilers, AreTimedInTurnsWithOurs) {
  const std::string model = sample("bert_tiny");
  const ProcessResult compared =
      fusescopeCommand({"compare", model, model, "--plan-b", std::string("--compiler ") + GetParam(), "--seconds",
                        "0.4", "--threads", "1", "--json"});
  ASSERT_EQ(compared.status, 0) << compared.err;
  const Json json = Json::parse(compared.out);
  EXPECT_EQ(json["turns"], 5);
  EXPECT_EQ(json["a_threads"], 1);
  EXPECT_EQ(json["b_threads"], 1);
  EXPECT_TRUE(json["b_compiler"].get<std::string>().starts_with(GetParam())) << json["b_compiler"];
  EXPECT_LT(json["outputs"][0]["max_over_rms"].get<double>(), 1e-4);
  EXPECT_EQ(json["differences"][0], Json({{"kind", "compiler"}, {"a", "fusescope"}, {"b", GetParam()}}));
}

TEST_P(RealCompilers, AnOptimiserThatIsLeftOutIsTheCause) {
  if (GetParam() != std::string_view("onnxruntime"))
    GTEST_SKIP() << "only ONNX Runtime says which of its optimisers made a kernel";
  const std::string model = sample("bert_tiny");
  const ProcessResult diff = fusescopeCommand(
      {"diff", model, model, "--plan-a", "--compiler onnxruntime", "--plan-b",
       "--compiler onnxruntime --compiler-option disable=MatMulAddFusion --pin node_MatMul_99=f32", "--json"});
  ASSERT_EQ(diff.status, 0) << diff.err;
  const Json json = Json::parse(diff.out);
  EXPECT_EQ(json["differences"].size(), 2U) << json["differences"];
  const std::string cause = "MatMulAddFusion, which --compiler-option disable=MatMulAddFusion leaves out in B";
  std::size_t named = 0;
  for (const Json& change : json["fusions"]) named += change["because"] == Json{cause};
  EXPECT_GE(named, 8U) << json["fusions"];  // of the 12 products with a sum behind them
}

/// ONNX Runtime keeps in f32 on this processor what it is to calculate in f16 between nodes: what overflows by our own
/// compiler, or by OpenVINO, does not there.
TEST_P(RealCompilers, ASmallestDifferenceThatOnnxRuntimeDoesNotShow) {
  const auto bytes = onnxlib::onnxTextToBytes(
      "<ir_version: 8, opset_import: [\"\" : 18]> net (float[64, 64] x, float[64, 64] v) => (float[64, 64] y) "
      "<float hundred = {100}> { [product] h = MatMul (x, v) [scale] s = Mul (h, hundred) [squash] y = Tanh (s) }");
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  const std::string model = m_folder.write("net.onnx", bytes.value());
  const bool isOurs = std::string_view(GetParam()) == "onnxruntime";
  const ProcessResult result = fusescopeCommand(
      {"extract", model, "-o", m_folder / "part.onnx", "--precision", "f16", "--minimal", "difference", "--tol-rms",
       "0.05", "--compiler", isOurs ? "fusescope" : GetParam(), "--against", "onnxruntime", "--json"});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const Json minimal = Json::parse(result.out)["minimal"];
  EXPECT_EQ(minimal["nodes"], Json({"product", "scale", "squash"})) << minimal;
  EXPECT_EQ(minimal["against"], "onnxruntime");
  EXPECT_NE(minimal["what"].get<std::string>().find("; by onnxruntime: max|Δ| of "), std::string::npos) << minimal;
  // What both show is not searched for.
  const ProcessResult both =
      fusescopeCommand({"extract", model, "-o", m_folder / "part.onnx", "--minimal", "difference", "--compiler",
                        isOurs ? "fusescope" : GetParam(), "--against", "onnxruntime"});
  EXPECT_EQ(both.status, 1) << both.out << both.err;
  EXPECT_NE(both.err.find("that onnxruntime does not show"), std::string::npos) << both.err;
}

/// The window's background builds: the second worker finds what the first one asked, and times what it compiles itself.
TEST_P(RealCompilers, AWorkerThatMeasuresNothingTakesWhatIsKept) {
  const std::string cache = "FUSESCOPE_CACHE=" + (m_folder / "cache").string();
  const Json source{{"path", sample("digits")}, {"options", {{"compiler", GetParam()}, {"target", GetParam()}}}};
  const std::string build =
      Json{{"id", 1}, {"op", "build"}, {"source", source}, {"settings", {{"no_measure", true}}}}.dump();
  const std::string time = Json{{"id", 2}, {"op", "time"}, {"source", source}, {"settings", {{"seconds", 0.1}}}}.dump();
  std::vector<bool> found;
  for (int turn = 0; turn < 2; ++turn) {
    const ProcessResult asked = runProcess(
        {"/usr/bin/env", cache, "python3", "-c", kAsksWorker, binary("fusescope-worker").string(), build, time});
    const std::vector<std::string> ended = split(asked.out, '\n');
    ASSERT_GE(ended.size(), 2U) << asked.err;
    const Json built = Json::parse(ended[0]), timed = Json::parse(ended[1]);
    ASSERT_EQ(built["event"], "done") << built;
    ASSERT_EQ(timed["event"], "done") << timed;
    found.push_back(ended[0].find("cache.found") != std::string::npos);
    // To be timed, the network is compiled, or loaded if compiling it took long.
    const auto isSaid = [&](const char* code) { return ended[1].find(code) != std::string::npos; };
    EXPECT_EQ(isSaid("cache.found"), isSaid("cache.compiled_loaded") || isSaid("cache.compiled_slower")) << timed;
    EXPECT_GT(timed["result"]["median_ms"].get<double>(), 0);
  }
  EXPECT_EQ(found, (std::vector<bool>{false, true}));
}

INSTANTIATE_TEST_SUITE_P(Compilers, RealCompilers, ::testing::Values("onnxruntime", "openvino"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace fusescope::test
