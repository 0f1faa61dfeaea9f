// `verify` over the bundled samples: every tactic of every region against its own nodes.
#include <gtest/gtest.h>

#include "interchange/npz.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

class CliVerify : public ::testing::TestWithParam<const char*> {};

TEST_P(CliVerify, EveryRegionOfASampleIsRight) {
  const auto result = fusescopeCommand({"verify", samplePath(GetParam()), "--seeds", "1", "--json"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  const Json json = jsonOf(result);
  EXPECT_EQ(json["ok"], true);
  std::size_t tactics = 0, unlike = 0;  // times that were measured decide how many regions are told as equal ones
  for (const Json& region : json["regions"]) {
    tactics += region["tactics"].size();
    unlike += region["same_as"].is_null() ? 1 : 0;
  }
  EXPECT_GE(tactics, unlike) << "few regions have kernels";
}

INSTANTIATE_TEST_SUITE_P(Samples, CliVerify, testing::Values("digits", "moe_dense", "bert_tiny", "fp16_overflow"),
                         [](const auto& info) { return std::string(info.param); });

// What a kernel loses of NaN would be noted: none does, whatever the library's own Relu and pools do.
TEST(CliVerifyNotes, NoKernelLosesNaN) {
  const Json json = jsonOf(fusescopeCommand({"verify", samplePath("digits"), "--seeds", "0", "--json"}));
  EXPECT_EQ(json["ok"], true);
  EXPECT_GT(json["regions"].size(), 5U);
  EXPECT_EQ(json["regions"].dump().find("on NaN and infinities: "), std::string::npos) << json["regions"].dump(1);
}

// A network whose Loop holds what fuses: as a model, as a plan that was saved, and as an engine.
TEST(CliVerifyBodies, OfModelsPlansAndEngines) {
  const TemporaryFolder folder;
  const std::string model = folder.write(
      "loop.onnx",
      onnxBytes(
          "g (float[2, 4] x) => (float[2, 4] y) <int64 trips = {3}, float[4, 4] w = {1, 2, 1, 2, 4, 2, 1, 2, 1, 3, 1, "
          "2, 1, "
          "1, 5, 1}> {"
          "  [loop] y = Loop (trips, , x) <body = b (int64 i, bool on, float[2, 4] u) => (bool go, float[2, 4] v) {"
          "      [go] go = Identity (on) [product] p = MatMul (u, w) [relu] r = Relu (p) [tanh] v = Tanh (r) }> }"));
  const std::string plan = folder / "plan.json", engine = folder / "engine.fse";
  ASSERT_EQ(fusescopeCommand({"plan", model, "--precision", "bf16", "-o", plan}).status, 0);
  ASSERT_EQ(fusescopeCommand({"build", model, "--precision", "bf16", "-o", engine}).status, 0);
  for (const std::string& file : {model, plan, engine}) {
    const Json json = jsonOf(fusescopeCommand({"verify", file, "--seeds", "1", "--json"}));
    EXPECT_EQ(json["ok"], true) << json["mismatch"];
    std::size_t inside = 0;
    for (const Json& region : json["regions"])
      if (region["fused_node"].get<std::string>().starts_with("loop/")) inside += region["tactics"].size();
    EXPECT_GE(inside, 1U) << file << json["regions"].dump(1);
  }
}

TEST(CliVerifySamples, AllAreVerifiedAndRandomOnesSaid) {
  const std::string inputs = sampleInputs("fp16_overflow");
  const std::vector<std::string> given{"verify", samplePath("fp16_overflow"), "--seeds", "0"};
  std::vector<std::string> twice = given;
  for (int i = 0; i < 2; ++i) twice.insert(twice.end(), {"--inputs", inputs});
  EXPECT_NE(fusescopeCommand(twice).out.find("verified on 2 samples"), std::string::npos);
  EXPECT_EQ(fusescopeCommand(twice).out.find("random inputs"), std::string::npos);
  EXPECT_NE(fusescopeCommand(given).out.find("random inputs"), std::string::npos);
}

// Of denormals a unit of the mean is much of what a normalisation makes: that is right, and is said to be.
TEST(CliVerifyNotes, ALargeErrorThatIsRightSaysWhy) {
  const TemporaryFolder folder;
  const std::string model = folder.write(
      "norm.onnx", onnxBytes("g (float[4, 64] x) => (float[4, 64] y) { n = Constant <value = int64[1] {64}> () "
                             "s = ConstantOfShape <value = float[1] {1.0}> (n) y = LayerNormalization (x, s) }"));
  const Json json = jsonOf(fusescopeCommand({"verify", model, "--seeds", "0", "--json"}));
  const Json& tactics = json["regions"][0]["tactics"];
  ASSERT_FALSE(tactics.empty()) << json;
  EXPECT_EQ(tactics[0]["is_wide"], true) << tactics;
  EXPECT_EQ(tactics[0]["worst_case"], "denormals") << tactics;
  EXPECT_GT(tactics[0]["max_over_rms"], 0.01) << tactics;
  const std::string text = fusescopeCommand({"verify", model, "--seeds", "0"}).out;
  EXPECT_NE(text.find("of rms off on denormals, but right: its nodes"), std::string::npos) << text;
  // A product is as near as its sums are, and needs no words.
  const Json products = jsonOf(fusescopeCommand({"verify", samplePath("fp16_overflow"), "--seeds", "0", "--json"}));
  EXPECT_EQ(products["regions"][0]["tactics"][0]["is_wide"], false) << products["regions"][0];
}

// The second of two samples asks for a row that is not there.
TEST(CliVerifySamples, AnErrorNamesItsSample) {
  const TemporaryFolder folder;
  const std::string model = folder.write(
      "gather.onnx", onnxBytes("g (float[4, 2] x, int64[1] i) => (float[1, 2] y) { p = Gather (x, i) y = Relu (p) }"));
  const Tensor x = Tensor::zeros(DataType::F32, {4, 2});
  for (const auto& [name, index] : {std::pair("good", 1), std::pair("astray", 9)})
    ASSERT_TRUE(writeNpz(folder / (std::string(name) + ".npz"), {{"x", x}, {"i", Tensor::ofInt64({index})}}).ok());
  const auto result =
      fusescopeCommand({"verify", model, "--inputs", folder / "good.npz", "--inputs", folder / "astray.npz"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("astray"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace fusescope::test
