#include <gtest/gtest.h>

#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

TEST(CliDiff, OfOneModelPlannedInTwoWaysNamesTheCause) {
  const std::string model = samplePath("fp16_overflow");
  const auto result = fusescopeCommand({"diff", model, model, "--precision", "f16", "--plan-b",
                                        "--pin node_linear_1=f32 --split 'node_relu_1'", "--json"});
  const Json json = jsonOf(result);
  EXPECT_EQ(json["format"], "fusescope.diff");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["same"], false);
  EXPECT_EQ(json["network"]["one"], true);
  EXPECT_EQ(json["a"]["precision"], "f16");
  EXPECT_EQ(json["b"]["precision"], "f16") << "options of both sides hold for both";
  ASSERT_EQ(json["differences"].size(), 2U);
  EXPECT_EQ(json["differences"][0]["b"], "--pin node_linear_1=f32");
  EXPECT_TRUE(json["differences"][0]["a"].is_null());
  ASSERT_FALSE(json["types"].empty());
  for (const Json& type : json["types"])
    EXPECT_EQ(type["because"], Json({"--pin node_linear_1=f32 (only in B)"})) << type.dump();
}

TEST(CliDiff, TheExitCodeSaysWhetherTheyDiffer) {
  const std::string model = samplePath("fp16_overflow");
  EXPECT_EQ(fusescopeCommand({"diff", model, model, "--exit-code"}).status, 0);
  const auto other = fusescopeCommand({"diff", model, model, "--plan-b", "--precision f16", "--exit-code"});
  EXPECT_EQ(other.status, 1) << other.err;
  EXPECT_NE(other.out.find("+ --precision f16\n"), std::string::npos) << other.out;
  EXPECT_NE(other.out.find("because of --precision f32 → f16"), std::string::npos) << other.out;
  EXPECT_EQ(fusescopeCommand({"diff", model, model, "--plan-b", "--precision f16"}).status, 0);
}

TEST(CliDiff, TakesPlansAndEnginesAndSaysWhatTheyTook) {
  const TemporaryFolder folder;
  const std::string model = samplePath("fp16_overflow"), plan = folder / "plan.json", engine = folder / "engine.fse";
  ASSERT_EQ(fusescopeCommand({"plan", model, "-o", plan}).status, 0);
  ASSERT_EQ(fusescopeCommand({"build", model, "--split", "node_linear_1", "-o", engine}).status, 0);
  const auto result = fusescopeCommand({"diff", plan, engine, "--json"});
  const Json json = jsonOf(result);
  EXPECT_EQ(json["network"]["one"], true);
  EXPECT_EQ(json["differences"][0]["b"], "--split node_linear_1");
  EXPECT_EQ(json["fusions"].size(), 1U) << json["fusions"].dump(1);
  const Json same = jsonOf(fusescopeCommand({"diff", engine, engine, "--json", "--exit-code"}));
  EXPECT_EQ(same["same"], true);
}

TEST(CliDiff, OptionsThatAreNoneAreBadUse) {
  const std::string model = samplePath("fp16_overflow");
  const auto result = fusescopeCommand({"diff", model, model, "--plan-b", "--precison f16"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("--plan-b"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("--precison"), std::string::npos) << result.err;
  const auto missing = fusescopeCommand({"diff", model, "nowhere.onnx"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("nowhere.onnx"), std::string::npos);
}

TEST(CliDiff, IsTheSameEveryTime) {
  const std::vector<std::string> command{"diff", samplePath("bert_tiny"), samplePath("tiny_resnet_dynbatch"), "--all"};
  const auto first = fusescopeCommand(command);
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(fusescopeCommand(command).out, first.out);
}

}  // namespace
}  // namespace fusescope::test
