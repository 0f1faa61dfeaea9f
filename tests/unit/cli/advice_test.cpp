#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

std::vector<std::string> overflow(const char* verb, std::vector<std::string> more) {
  std::vector<std::string> arguments{verb,       samplePath("fp16_overflow"),  "--precision", "f16",
                                     "--inputs", sampleInputs("fp16_overflow")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// `errors` names pins that mend what it says is wrong: with them it says so no more.
TEST(Advice, OfErrorsMendsWhatItIsAbout) {
  const Json before = jsonOf(fusescopeCommand(overflow("errors", {"--json"})));
  ASSERT_FALSE(before["first_wrong"].is_null());
  const Json& advice = before["advice"];
  EXPECT_EQ(advice["value"], before["first_wrong"]["tensor"]);
  ASSERT_EQ(advice["pins"].size(), 2U);  // what makes it, and what reads it
  EXPECT_NE(advice["effect"].get<std::string>().find("relu_1 is stored in f32 instead of f16"), std::string::npos);
  EXPECT_NE(advice["tried"].get<std::string>().find("relu_1 is right"), std::string::npos);
  std::vector<std::string> pins{"--json"};
  for (const Json& pin : advice["pins"]) {
    pins.emplace_back("--pin");
    pins.push_back(pin["pattern"].get<std::string>() + "=" + pin["type"].get<std::string>());
  }
  const Json after = jsonOf(fusescopeCommand(overflow("errors", pins)));
  EXPECT_TRUE(after["first_wrong"].is_null()) << after["first_wrong"];
  EXPECT_TRUE(after["advice"].is_null());
}

/// A pin that holds for free and changes nothing is not advised again: what is missing is.
TEST(Advice, GoesOnFromPinsThatAreThere) {
  const Json json = jsonOf(fusescopeCommand(overflow("errors", {"--json", "--pin", "node_relu_1=f32"})));
  ASSERT_EQ(json["advice"]["pins"].size(), 1U) << json["advice"];
  EXPECT_EQ(json["advice"]["pins"][0]["pattern"], "node_layer_norm");
}

/// `run` says the same of outputs that are not as expected, as options that can be pasted.
TEST(Advice, OfRunIsThatOfErrors) {
  const TemporaryFolder folder;
  const std::string expected = (folder.path() / "expected.npz").string();
  ASSERT_EQ(fusescopeCommand(
                {"run", samplePath("fp16_overflow"), "--inputs", sampleInputs("fp16_overflow"), "--outputs", expected})
                .status,
            0);
  const ProcessResult errors = fusescopeCommand(overflow("errors", {}));
  const ProcessResult run = fusescopeCommand(overflow("run", {"--expect", expected}));
  EXPECT_EQ(run.status, 1) << run.out;
  const std::string line = "what would repair it: --pin node_relu_1=f32 --pin node_layer_norm=f32\n";
  EXPECT_NE(errors.out.find(line), std::string::npos) << errors.out;
  EXPECT_NE(run.out.find(line), std::string::npos) << run.out;
  const ProcessResult mended = fusescopeCommand(overflow(
      "run", {"--expect", expected, "--tol-rms", "0.01", "--pin", "node_relu_1=f32", "--pin", "node_layer_norm=f32"}));
  EXPECT_EQ(mended.status, 0) << mended.out << mended.err;
  EXPECT_EQ(mended.out.find("what would repair it"), std::string::npos);
}

/// Nothing is advised about a network in float32.
TEST(Advice, OfWhatIsNotLoweredThereIsNone) {
  const TemporaryFolder folder;
  const std::string other = (folder.path() / "other.npz").string();
  ASSERT_EQ(fusescopeCommand({"run", samplePath("fp16_overflow"), "--outputs", other}).status, 0);
  const ProcessResult run = fusescopeCommand(
      {"run", samplePath("fp16_overflow"), "--inputs", sampleInputs("fp16_overflow"), "--expect", other});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out.find("mend"), std::string::npos) << run.out;
}

/// A mask whose lowest number becomes infinite harms nobody: there is nothing to do about it.
TEST(Advice, OfWhatHarmsNoOutputThereIsNone) {
  const Json json = jsonOf(fusescopeCommand({"errors", samplePath("bert_tiny"), "--precision", "f16", "--json"}));
  ASSERT_NE(json["first_wrong"]["why"].get<std::string>().find("no output of the network is wrong because of it"),
            std::string::npos);
  EXPECT_TRUE(json["advice"].is_null()) << json["advice"];
}

}  // namespace
}  // namespace fusescope::test
