#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "interchange/npz.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

std::string overflowInputs() {
  return sampleInputs("fp16_overflow");
}

TEST(Cli, runTakesSeveralSamplesAndComparesEach) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "out").string();
  const std::vector<std::string> given{
      "run", samplePath("fp16_overflow"), "--inputs", overflowInputs(), "--inputs", overflowInputs(), "--json"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = given;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusescopeCommand(arguments);
  };
  const Json written = jsonOf(with({"--outputs", out}));
  EXPECT_EQ(written["samples"], 2);
  EXPECT_EQ(written["random_inputs"], false);
  EXPECT_EQ(written["runs"][1]["sample"], "io#2");
  const Json compared = jsonOf(with({"--expect", out}));
  EXPECT_EQ(compared["ok"], true);
  EXPECT_EQ(compared["runs"].size(), 2U);
}

TEST(Cli, numbersOfRandomInputsSaySo) {
  EXPECT_EQ(jsonOf(fusescopeCommand({"run", samplePath("fp16_overflow"), "--json"}))["random_inputs"], true);
  EXPECT_EQ(jsonOf(fusescopeCommand({"time", samplePath("fp16_overflow"), "--seconds", "0.05", "--warmup", "0",
                                     "--json"}))["random_inputs"],
            true);
  EXPECT_NE(fusescopeCommand({"run", samplePath("fp16_overflow")}).out.find("random inputs"), std::string::npos);
  const auto nothing = fusescopeCommand({"run", samplePath("fp16_overflow"), "--batch-axis", "0"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_NE(nothing.err.find("--batch-axis"), std::string::npos);
}

TEST(Cli, errorsNamesTheNodeThatOverflows) {
  const std::vector<std::string> given{"errors",        samplePath("fp16_overflow"), "--precision", "f16", "--inputs",
                                       overflowInputs()};
  std::vector<std::string> forPrograms = given;
  forPrograms.emplace_back("--json");
  const Json json = jsonOf(fusescopeCommand(forPrograms));
  EXPECT_EQ(json["first_wrong"]["tensor"], "relu_1");
  EXPECT_EQ(json["first_wrong"]["how"], "local");
  EXPECT_EQ(json["samples"], 1);
  const auto text = fusescopeCommand(given);
  EXPECT_EQ(text.status, 0);
  EXPECT_NE(text.out.find("first wrong: node_linear_1 + node_relu_1 (relu_1)"), std::string::npos) << text.out;
  std::vector<std::string> pinned = forPrograms;
  for (const char* node : {"node_linear_1", "node_relu_1", "node_layer_norm"}) {
    pinned.emplace_back("--pin");
    pinned.push_back(std::string(node) + "=f32");
  }
  EXPECT_TRUE(jsonOf(fusescopeCommand(pinned))["first_wrong"].is_null());
}

TEST(Cli, errorsTellsWhatIsWrongAndHarmsNobody) {
  std::vector<std::string> given{"errors", samplePath("bert_tiny"), "--precision", "f16"};
  const std::string text = fusescopeCommand(given).out;
  EXPECT_NE(text.find("1 of those that are wrong with exact inputs makes no output wrong, the first: val_100"),
            std::string::npos)
      << text;
  given.emplace_back("--json");
  const Json json = jsonOf(fusescopeCommand(given));
  const auto mask = std::ranges::find(json["tensors"], "val_100", [](const Json& tensor) { return tensor["name"]; });
  ASSERT_NE(mask, json["tensors"].end());
  EXPECT_GT((*mask)["local"]["non_finite"], 0);
  EXPECT_EQ((*mask)["reaches_output"], false);
}

TEST(Cli, verifyFindsRegionsAsTheirNodesAre) {
  const auto result =
      fusescopeCommand({"verify", samplePath("bert_tiny"), "--precision", "bf16", "--seeds", "1", "--json"});
  const Json json = Json::parse(result.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.out << result.err;
  EXPECT_EQ(result.status, json["ok"] == true ? 0 : 1);
  EXPECT_EQ(json["ok"], true) << json["mismatch"];
  EXPECT_EQ(json["random_inputs"], true);
  int verified = 0;
  for (const Json& region : json["regions"]) verified += region["tactics"].empty() ? 0 : 1;
  EXPECT_GT(verified, 0);
}

}  // namespace
}  // namespace fusescope::test
