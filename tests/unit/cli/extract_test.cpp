// `extract`: which part is cut out, what is written beside it, and that it gives what the whole has there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "frontends/importers.h"
#include "interchange/npz.h"
#include "ir/graph.h"
#include "onnxlib/onnx_text.h"
#include "onnxlib/onnxlib.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

class Extract : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (m_folder / name).string(); }

  std::string network(const std::string& text, const std::string& head = R"(ir_version: 8, opset_import: ["" : 18])") {
    const auto bytes = onnxlib::onnxTextToBytes("<" + head + ">\n" + text);
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    return m_folder.write("model.onnx", bytes.value()).string();
  }

  ProcessResult extracted(const std::string& model, std::vector<std::string> more) const {
    std::vector<std::string> arguments{"extract", model, "-o", path("part.onnx"), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusescopeCommand(arguments);
  }

  /// The part is what ONNX's checker takes, and runs on what was recorded as the whole did.
  void expectRuns(const std::string& values = "part.npz") const {
    EXPECT_EQ(onnxlib::checkerComplaint(path("part.onnx")), std::nullopt);
    const auto run =
        fusescopeCommand({"run", path("part.onnx"), "--inputs", path(values), "--expect", path(values), "--json"});
    const Json json = jsonOf(run);
    EXPECT_TRUE(json["ok"]) << json;
    EXPECT_FALSE(json["outputs"].empty());
  }

  static std::vector<std::string> namesOf(const Json& values) {
    std::vector<std::string> names;
    for (const Json& value : values) names.push_back(value["name"]);
    return names;
  }

  TemporaryFolder m_folder;
};

using Names = std::vector<std::string>;

constexpr const char* kTwoBranches =
    "net (float[N, 4] x) => (float[N, 4] y) <float[4, 4] w = "
    "{0.5, 1, 0.25, -1, 0.5, 0.125, 1, 0, -0.5, 1, 1, 1, 0.25, 0, -1, 1}> "
    "{ [first] a = MatMul(x, w) [left] b = Relu(a) [right] c = Sigmoid(a) [join] d = Add(b, c) "
    "[same] e = Identity(d) [last] y = Tanh(e) }";

TEST_F(Extract, BetweenValuesIsWhatMakesOneOfTheOther) {
  const Json json = jsonOf(extracted(network(kTwoBranches), {"--from", "a", "--to", "d"}));
  EXPECT_EQ(json["nodes"], Json({"left", "right", "join"}));
  EXPECT_EQ(namesOf(json["inputs"]), Names{"a"});
  EXPECT_EQ(namesOf(json["outputs"]), Names{"d"});
  EXPECT_EQ(json["inputs"][0]["type"], "f32[N, 4]") << "open extents stay open";
  EXPECT_TRUE(json["identical"]);
  EXPECT_TRUE(json["random_inputs"]);
  expectRuns();
}

TEST_F(Extract, WhatElseAPartReadsIsAnInputToo) {
  const Json json = jsonOf(extracted(network(kTwoBranches), {"--from", "b", "--to", "y"}));
  EXPECT_EQ(json["nodes"], Json({"join", "same", "last"}));
  EXPECT_EQ(namesOf(json["inputs"]), (Names{"b", "c"}));
  expectRuns();
}

/// What normalisation removes between two nodes belongs to the part; weights go along, other nodes do not.
TEST_F(Extract, NodesAreCutOutWithWhatStandsBetweenThem) {
  const Json json =
      jsonOf(extracted(network(kTwoBranches), {"--nodes", "first", "--nodes", "join", "--nodes", "last"}));
  EXPECT_EQ(json["nodes"], Json({"first", "join", "same", "last"}));
  EXPECT_EQ(namesOf(json["inputs"]), (Names{"x", "b", "c"}));
  EXPECT_EQ(namesOf(json["outputs"]), (Names{"a", "y"}));
  expectRuns();
}

TEST_F(Extract, SamplesAreRecordedOneByOne) {
  const std::string model = network(kTwoBranches);
  const std::vector<float> numbers{1, -2, 3, 0.5, 2, 2, -1, 4};
  ASSERT_TRUE(
      writeNpz(path("one.npz"), {{"x", Tensor::copyOf<float>(DataType::F32, {1, 4}, std::span(numbers).first(4))}})
          .ok());
  ASSERT_TRUE(writeNpz(path("two.npz"), {{"x", Tensor::copyOf<float>(DataType::F32, {2, 4}, numbers)}}).ok());
  const Json json =
      jsonOf(extracted(model, {"--nodes", "op:Relu", "--inputs", path("one.npz"), "--inputs", path("two.npz")}));
  EXPECT_EQ(json["samples"], Json({"one", "two"}));
  EXPECT_FALSE(json["random_inputs"]);
  ASSERT_EQ(json["files"].size(), 3U) << json["files"];
  expectRuns("part.npz");
  expectRuns("part_2.npz");
  const auto second = readNpz(path("part_2.npz"));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second.value().at("in:a").dims(), (Dims{2, 4}));
}

/// A chain of extents goes along where they are open, and is a constant where they are known.
TEST_F(Extract, ExtentsGoAlongOrAreConstants) {
  const std::string text =
      "net (float[N, 2, 4] x) => (float[A, B] y) <int64[1] zero = {0}, int64[1] rest = {-1}> "
      "{ [bend] h = Relu(x) [extents] s = Shape(x) [pick] n = Gather(s, zero) "
      "[join] t = Concat <axis = 0>(n, rest) [view] v = Reshape(h, t) [last] y = Tanh(v) }";
  Json json = jsonOf(extracted(network(text), {"--nodes", "view", "--nodes", "last"}));
  EXPECT_EQ(json["nodes"], Json({"extents", "pick", "join", "view", "last"}));
  EXPECT_EQ(json["go_along"], Json({"extents", "pick", "join"}));
  EXPECT_EQ(namesOf(json["inputs"]), (Names{"x", "h"}));
  expectRuns();
  json = jsonOf(extracted(network(text), {"--nodes", "view", "--nodes", "last", "--input", "x=3x2x4"}));
  EXPECT_EQ(json["nodes"], Json({"view", "last"}));
  EXPECT_EQ(json["frozen"], Json({"t"}));
  EXPECT_EQ(namesOf(json["inputs"]), Names{"h"});
  EXPECT_EQ(json["inputs"][0]["type"], "f32[3, 2, 4]");
  expectRuns();
}

/// Bodies go whole, what they capture is an input; functions that nothing calls go.
TEST_F(Extract, BodiesTakeWhatTheyCaptureAlong) {
  const std::string model = network(
      "net (bool c, float[4] x) => (float[4] y) { [before] a = Relu(x) [used] u = Neg(x) "
      "[choice] b = If(c) <then_branch = g () => (float[4] t) { t = Add(a, u) }, "
      "else_branch = h () => (float[4] e) { e = Sub(a, u) }> [last] y = Tanh(b) }");
  const Json json = jsonOf(extracted(model, {"--nodes", "choice"}));
  EXPECT_EQ(namesOf(json["inputs"]), (Names{"c", "a", "u"}));
  EXPECT_EQ(namesOf(json["outputs"]), Names{"b"});
  expectRuns();
  const auto inside = extracted(model, {"--nodes", "choice/*"});
  EXPECT_EQ(inside.status, 2);
  EXPECT_NE(inside.err.find("--nodes 'choice'"), std::string::npos) << inside.err;
}

TEST_F(Extract, FunctionsAreTakenAlongWhereTheyAreCalled) {
  const std::string model = network(
      "net (float[4] x) => (float[4] y) { [before] a = Relu(x) [call] b = own.twice(a) [other] y = own.thrice(b) }\n"
      "<domain: \"own\", opset_import: [\"\" : 18]> twice (p) => (q) { q = Add(p, p) }\n"
      "<domain: \"own\", opset_import: [\"\" : 18]> thrice (p) => (r) { q = Add(p, p) r = Add(q, p) }",
      R"(ir_version: 8, opset_import: ["" : 18, "own" : 1])");
  jsonOf(extracted(model, {"--nodes", "call"}));
  const auto part = onnxlib::readModel(path("part.onnx"));
  ASSERT_TRUE(part.ok()) << part.error().text();
  ASSERT_EQ(part.value().functions.size(), 1U);
  EXPECT_EQ(part.value().functions[0].name, "twice");
  expectRuns();
}

/// Kernels and segments are those of the plan: by name, or by a node that they hold.
TEST_F(Extract, KernelsAndSegmentsOfThePlan) {
  const Json json = jsonOf(extracted(samplePath("digits"), {"--kernel", "stem"}));
  EXPECT_GE(json["nodes"].size(), 2U) << json["nodes"];
  expectRuns();
  const Json all = jsonOf(extracted(samplePath("digits"), {"--segment", "segment_0"}));
  EXPECT_GT(all["nodes"].size(), json["nodes"].size());
  expectRuns();
}

/// Pins of the whole stand beside the part, and those of the part hold in the whole again.
TEST_F(Extract, PinsGoBothWays) {
  const std::string model = network(kTwoBranches);
  const Json json = jsonOf(extracted(
      model, {"--from", "a", "--to", "d", "--precision", "f16", "--pin", "left=f32", "--pin", "last=f32:obey"}));
  EXPECT_EQ(json["directives"], Json({"--pin left=f32"}));
  EXPECT_EQ(json["left_out"], Json({"--pin last=f32:obey"}));
  const std::string directives = path("part.directives.json");
  const Json part = jsonOf(fusescopeCommand({"plan", path("part.onnx"), "--directives", directives, "--json"}));
  const Json whole = jsonOf(fusescopeCommand({"plan", model, "--directives", directives, "--json"}));
  for (const Json* plan : {&part, &whole}) {
    const auto& granted = (*plan)["precision_map"];
    const auto left = std::ranges::find_if(granted, [](const Json& entry) { return entry["node"] == "left"; });
    ASSERT_NE(left, granted.end()) << *plan;
    EXPECT_EQ((*left)["granted"], "f32");
  }
}

/// Of two nodes of one name plans call the second otherwise; in the part it is called so.
TEST_F(Extract, NodesKeepTheNamesOfThePlan) {
  const std::string model =
      network("net (float[4] x) => (float[4] y) { [n] a = Relu(x) [n] b = Tanh(a) [n] y = Neg(b) }");
  const Json json = jsonOf(extracted(model, {"--nodes", "n#2", "--nodes", "n#3"}));
  EXPECT_EQ(json["nodes"], Json({"n#2", "n#3"}));
  const auto part = importModel(path("part.onnx"));
  ASSERT_TRUE(part.ok());
  EXPECT_TRUE(part.value().graph->findNode("n#2"));
  EXPECT_TRUE(part.value().graph->findNode("n#3"));
}

TEST_F(Extract, WhatCannotBeCutOutIsSaid) {
  const std::string model = network(kTwoBranches);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{}, "the part is missing"},
      {{"--from", "a", "--nodes", "left"}, "not both"},
      {{"--from", "aa"}, "no value of this name"},
      {{"--from", "b", "--to", "c"}, "it does not depend on the values of --from"},
      {{"--from", "y"}, "no output of the network depends on it"},
      {{"--to", "x"}, "no node makes it"},
      {{"--nodes", "nobody"}, "nobody"},
      {{"--segment", "segment_9"}, "Segments are segment_0"},
      {{"--kernel", "nothing"}, "no kernel"}};
  for (const auto& [arguments, words] : cases) {
    const auto result = extracted(model, arguments);
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_FALSE(std::filesystem::exists(path("part.onnx")));
  }
  const auto over = fusescopeCommand({"extract", model, "--nodes", "left", "-o", model});
  EXPECT_EQ(over.status, 2);
  EXPECT_NE(over.err.find("would be written over"), std::string::npos) << over.err;
}

/// A network that cannot be run is cut out without values, and says why.
TEST_F(Extract, WithoutWeightsThereAreNoValues) {
  const auto model = zooModel("efficientnet_v2_s");
  if (!model) GTEST_SKIP() << "no shared test material; set FUSESCOPE_SHARED to its folder";
  const Json json = jsonOf(extracted(model->string(), {"--nodes", "op:ReduceMean", "--nodes", "op:Gemm"}));
  EXPECT_NE(json["why_no_values"].get<std::string>().find("without its weights"), std::string::npos) << json;
  EXPECT_NE(json["why_no_values"].get<std::string>().find(model->string()), std::string::npos) << json;
  EXPECT_EQ(json["files"].size(), 1U) << json["files"];
}

/// A value that no .npz holds is refused before anything is written.
TEST_F(Extract, SequencesAtTheBorderAreRefused) {
  const std::string model = network(
      "net (float[4, 2] x) => (float[4, 2] y) { [cut] s = SplitToSequence <axis = 0>(x) "
      "[glue] a = ConcatFromSequence <axis = 0>(s) [last] y = Relu(a) }");
  const auto result = extracted(model, {"--nodes", "glue"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("sequence"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(path("part.onnx")));
  jsonOf(extracted(model, {"--nodes", "cut", "--nodes", "glue"}));
  expectRuns();
}

TEST_F(Extract, NothingThatIsReadIsWrittenOver) {
  const auto model = network(kTwoBranches);
  jsonOf(extracted(model, {"--to", "d"}));
  const auto again = extracted(model, {"--from", "x", "--to", "d", "--inputs", path("part.npz")});
  EXPECT_EQ(again.status, 2);
  EXPECT_NE(again.err.find("would be written over"), std::string::npos) << again.err;
}

TEST_F(Extract, AValueOfExtentsIsNoInput) {
  const auto model = network("net (float[N, 4] x) => (float[N, 4] y) { s = Shape(x) a = Relu(x) y = Reshape(a, s) }");
  const auto result = extracted(model, {"--from", "s", "--to", "y"});
  EXPECT_NE(result.err.find("depends only on weights or extents"), std::string::npos) << result.err;
}

TEST_F(Extract, AnEndThatIsNamedTwiceIsOneOutput) {
  EXPECT_EQ(jsonOf(extracted(network(kTwoBranches), {"--to", "d", "--to", "d"}))["outputs"].size(), 1U);
}

TEST_F(Extract, TheSmallestPartOfNothingTriedIsNone) {
  const auto one = extracted(network(kTwoBranches), {"--minimal", "difference", "--trials", "1"});
  EXPECT_EQ(one.status, 1) << one.err;
  EXPECT_EQ(Json::parse(one.out)["minimal"]["end"], "no_culprit");
  EXPECT_EQ(Json::parse(one.out)["minimal"]["trials"], 1);
}

TEST_F(Extract, KernelsOfAFunctionCallAreThoseOfItsNodes) {
  const std::string text =
      "net (float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1, 2, 3, 4}> "
      "{ [r] a = Relu(x) [blk] b = my.block(a) [t] y = MatMul(b, w) }\n"
      "<domain: \"my\", opset_import: [\"\" : 18]> block (i) => (o) { s = Sigmoid(i) o = Abs(s) }";
  const auto model = network(text, R"(ir_version: 8, opset_import: ["" : 18, "my" : 1])");
  const Json json = jsonOf(extracted(model, {"--minimal", "unfused", "--nodes", "blk", "--nodes", "t"}));
  EXPECT_EQ(json["minimal"]["nodes"], Json({"blk", "t"}));
  const auto none = extracted(network(kTwoBranches), {"--minimal", "unfused", "--nodes", "same", "--nodes", "last"});
  EXPECT_EQ(none.status, 2) << none.out;
  EXPECT_NE(none.err.find("no kernel contains it"), std::string::npos) << none.err;
}

TEST_F(Extract, ARefusalNeedsNoValues) {
  const auto model = network("net (float[4] x) => (float[4] y) { [r] a = Relu(x) [own] b = my.odd(a) [t] y = Tanh(b) }",
                             R"(ir_version: 8, opset_import: ["" : 18, "my" : 1])");
  const Json json = jsonOf(extracted(model, {"--minimal", "refusal"}));
  EXPECT_EQ(json["minimal"]["nodes"], Json({"own"}));
}

TEST_F(Extract, ChainsOfRemovedNodesAreFollowedHoweverLong) {
  std::string nodes = "[first] v0 = Relu(x) ";
  constexpr int kNodes = 20'000;
  for (int i = 0; i < kNodes; ++i) nodes += fmt::format("v{} = Identity(v{}) ", i + 1, i);
  nodes += fmt::format("[last] y = Tanh(v{})", kNodes);
  const auto model = network("net (float[4] x) => (float[4] y) { " + nodes + " }");
  const Json json = jsonOf(extracted(model, {"--nodes", "first", "--nodes", "last"}));
  EXPECT_EQ(json["nodes"].size(), static_cast<std::size_t>(kNodes) + 2);
}

}  // namespace
}  // namespace fusescope::test
