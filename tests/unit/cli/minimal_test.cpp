// `extract --minimal`: the smallest part that still shows what is asked for.
#include <gtest/gtest.h>

#include <filesystem>

#include "onnxlib/onnx_text.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

class Minimal : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (m_folder / name).string(); }

  std::string network(const std::string& text) const {
    const auto bytes = onnxlib::onnxTextToBytes("<ir_version: 8, opset_import: [\"\" : 18]>\n" + text);
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    return m_folder.write("model.onnx", bytes.value()).string();
  }

  ProcessResult searched(const std::string& model, const std::string& shows, std::vector<std::string> more) const {
    std::vector<std::string> arguments{"extract", model, "-o", path("part.onnx"), "--minimal", shows, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusescopeCommand(arguments);
  }

  TemporaryFolder m_folder;
};

/// One node overflows in float16 by itself. It is found twice alike.
TEST_F(Minimal, TheNodeThatOverflows) {
  const std::string model = samplePath("fp16_overflow");
  const Json json = jsonOf(searched(model, "difference", {"--precision", "f16"}));
  EXPECT_EQ(json["minimal"]["end"], "found");
  EXPECT_TRUE(json["minimal"]["minimal"]);
  EXPECT_EQ(json["minimal"]["nodes"], Json({"node_linear_1"}));
  EXPECT_EQ(json["nodes"], Json({"node_linear_1"}));
  Json first = json, again = jsonOf(searched(model, "difference", {"--precision", "f16"}));
  for (Json* each : {&first, &again}) (*each)["minimal"].erase("seconds");
  EXPECT_EQ(first, again);
  // The part shows it by the directives beside it.
  const auto part = fusescopeCommand(
      {"errors", path("part.onnx"), "--directives", path("part.directives.json"), "--inputs", path("part.npz")});
  EXPECT_NE(part.out.find("first wrong: node_linear_1"), std::string::npos) << part.out << part.err;
}

/// Three nodes are wrong in float16 together and none of them by itself; elsewhere one is wrong alone.
constexpr const char* kTwoPlaces =
    "net (float[64, 64] x, float[64, 64] v, float[8] z) => (float[64, 64] y, float[8] q) "
    "<float hundred = {100}, float thousand = {1000}> { [product] h = MatMul(x, v) [scale] s = Mul(h, hundred) "
    "[squash] y = Tanh(s) [lift] a = Mul(z, thousand) [square] q = Mul(a, a) }";

/// A set of which nothing can be left out is not yet the smallest.
TEST_F(Minimal, FewerNodesElsewhereAreFound) {
  const std::string model = network(kTwoPlaces);
  const Json json = jsonOf(searched(model, "difference", {"--precision", "f16"}));
  EXPECT_EQ(json["minimal"]["nodes"], Json({"square"}));
  EXPECT_TRUE(json["minimal"]["smallest"]);
  EXPECT_TRUE(json["minimal"]["against"].is_null());
  const Json upper = jsonOf(searched(model, "difference", {"--precision", "f16", "--from", "x", "--to", "y"}));
  EXPECT_EQ(upper["minimal"]["nodes"], Json({"product", "scale", "squash"}));
  EXPECT_TRUE(upper["minimal"]["smallest"]) << "no node and no two neighbours show it";
}

/// Where the trials end before all that might be smaller were tried, that is said.
TEST_F(Minimal, ThatFewerNodesWereNotTriedIsSaid) {
  const std::string model = network(kTwoPlaces);
  bool wasSaid = false;
  for (int trials = 3; trials < 16 && !wasSaid; ++trials) {
    const std::vector<std::string> more{"--precision", "f16", "--trials", std::to_string(trials)};
    const Json json = jsonOf(searched(model, "difference", more));
    if (json["minimal"]["end"] != "found" || json["minimal"]["smallest"]) continue;
    wasSaid = true;
    EXPECT_TRUE(json["minimal"]["minimal"]);
    EXPECT_EQ(json["minimal"]["nodes"].size(), 3U);
    std::vector<std::string> words{"extract", model, "-o", path("part.onnx"), "--minimal", "difference"};
    words.insert(words.end(), more.begin(), more.end());
    const std::string text = fusescopeCommand(words).out;
    EXPECT_EQ(text.find("smallest part"), std::string::npos) << text;
    EXPECT_NE(text.find("A part of fewer nodes elsewhere may show it"), std::string::npos) << text;
  }
  EXPECT_TRUE(wasSaid);
}

TEST_F(Minimal, AnotherCompilerToHoldItAgainstIsAnother) {
  const std::string model = network(kTwoPlaces);
  const auto refused = [&](const std::string& against) {
    const auto result = searched(model, "difference", {"--precision", "f16", "--against", against});
    EXPECT_EQ(result.status, 2) << result.out;
    return result.err;
  };
  EXPECT_NE(refused("fusescope").find("is already the compiler of the network"), std::string::npos);
  const std::string none = refused("nobody");
  EXPECT_NE(none.find("there is no compiler 'nobody'"), std::string::npos) << none;
  EXPECT_NE(none.find("--against"), std::string::npos) << none;
  EXPECT_EQ(fusescopeCommand({"extract", model, "-o", path("part.onnx"), "--against", "fusescope"}).status, 2);
}

TEST_F(Minimal, ARefusalOfATarget) {
  const std::string model =
      network("net (float[4, 4] x) => (float z) { [before] a = Tanh(x) [odd] d = Det(a) [last] z = Relu(d) }");
  const Json json = jsonOf(searched(model, "refusal", {"--target", "tensorrt-10"}));
  EXPECT_EQ(json["minimal"]["nodes"], Json({"odd"}));
  EXPECT_NE(json["minimal"]["what"].get<std::string>().find("odd"), std::string::npos);
}

/// Two nodes that do not fuse by themselves need no others; two that do are no such part.
TEST_F(Minimal, TwoNodesThatAreUnfused) {
  const std::string model = network(
      "net (float[4, 4] x) => (float[4, 4] y) { [one] a = Tanh(x) [two] b = Relu(a) [sums] c = Softmax(b) "
      "[three] d = Relu(c) [last] y = MatMul(d, x) }");
  const Json json = jsonOf(searched(model, "unfused", {"--nodes", "two", "--nodes", "last"}));
  EXPECT_EQ(json["minimal"]["nodes"], Json({"two", "last"}));
  const auto fused = searched(model, "unfused", {"--nodes", "one", "--nodes", "two"});
  EXPECT_EQ(fused.status, 1) << fused.out << fused.err;
  EXPECT_NE(fused.err.find("do not show that the two nodes are unfused"), std::string::npos) << fused.err;
  EXPECT_EQ(searched(model, "unfused", {"--nodes", "one"}).status, 2);
  EXPECT_EQ(searched(model, "unfused", {"--nodes", "one", "--nodes", "nobody"}).status, 2);
}

TEST_F(Minimal, WhatIsRightHasNoSuchPart) {
  const std::string model = network("net (float[4] x) => (float[4] y) { [one] a = Tanh(x) [two] y = Relu(a) }");
  const auto result = searched(model, "difference", {});
  EXPECT_EQ(result.status, 1) << result.out;
  EXPECT_NE(result.err.find("do not show a difference"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(path("part.onnx")));
}

/// A budget ends the search with what is known so far.
TEST_F(Minimal, ABudgetEndsTheSearch) {
  const Json json =
      jsonOf(searched(samplePath("fp16_overflow"), "difference", {"--precision", "f16", "--trials", "2"}));
  EXPECT_EQ(json["minimal"]["end"], "out_of_budget");
  EXPECT_FALSE(json["minimal"]["minimal"]);
  EXPECT_EQ(json["minimal"]["trials"], 2);
  EXPECT_GT(json["minimal"]["nodes"].size(), 1U);
}

}  // namespace
}  // namespace fusescope::test
