// `tensor`: a weight, an input, and what a plan makes of a value.
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

TEST(CliTensor, AWeightHasStatisticsASliceAndAFile) {
  const TemporaryFolder folder;
  const std::string file = (folder / "w.npy").string();
  const Json json = jsonOf(fusescopeCommand(
      {"tensor", samplePath("digits"), "early.conv1.weight", "--slice", "0,0,:,:", "--npy", file, "--json"}));
  EXPECT_EQ(json["kind"], "constant");
  EXPECT_TRUE(json["sample"].is_null());
  const Json& tensor = json["tensor"];
  EXPECT_EQ(tensor["type"], "f32");
  EXPECT_EQ(tensor["statistics"]["looked_at"], tensor["statistics"]["count"]);
  EXPECT_LT(tensor["statistics"]["min"].get<double>(), tensor["statistics"]["max"].get<double>());
  EXPECT_EQ(tensor["slice"].size(), tensor["dims"][2].get<std::size_t>());
  EXPECT_TRUE(readTextFile(file).ok());
}

TEST(CliTensor, AValueIsMadeInFloat32AndByThePlan) {
  const auto result = fusescopeCommand({"tensor", samplePath("fp16_overflow"), "relu_1", "--precision", "f16",
                                        "--inputs", sampleInputs("fp16_overflow"), "--json"});
  const Json json = jsonOf(result);
  EXPECT_EQ(json["kind"], "made");
  EXPECT_EQ(json["exact"]["type"], "f32");
  ASSERT_FALSE(json["planned"].is_null()) << json.dump(1);
  EXPECT_EQ(json["planned"]["type"], "f16");
  EXPECT_TRUE(json["difference"]["unavailable"].is_null());
  EXPECT_GT(json["difference"]["not_finite"].get<int>(), 0) << "its numbers are beyond what f16 holds";
  EXPECT_EQ(json["exact"]["statistics"]["narrow"][1]["type"], "f16");
  EXPECT_GE(json["exact"]["statistics"]["narrow"][1]["overflow"].get<int>(),
            json["difference"]["not_finite"].get<int>());
}

TEST(CliTensor, PeopleAreToldHowFarBothAreApart) {
  const auto result = fusescopeCommand({"tensor", samplePath("digits"), "stem.relu_out", "--precision", "f16",
                                        "--inputs", sampleInputs("digits"), "--batch-axis", "0", "--sample", "3"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("float32"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("this plan, f16"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("max|Δ| is"), std::string::npos) << result.out;
}

TEST(CliTensor, WhatAKernelHoldsInsideIsToldInFloat32Alone) {
  const Json json =
      jsonOf(fusescopeCommand({"tensor", samplePath("digits"), "stem_out", "--precision", "f16", "--json"}));
  EXPECT_FALSE(json["exact"].is_null());
  EXPECT_TRUE(json["planned"].is_null());
  EXPECT_NE(json["why_no_planned"].get<std::string>().find("inner value"), std::string::npos);
  EXPECT_TRUE(json["random_inputs"].get<bool>());
}

TEST(CliTensor, WhatIsWrongIsSaid) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& words) {
    const auto result = fusescopeCommand(arguments);
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  };
  const std::string digits = samplePath("digits");
  refused({"tensor", digits, "early.conv1.weigth"}, "early.conv1.weight");
  refused({"tensor", digits, "early.conv1"}, "It is a node, whose values are");
  refused({"tensor", digits, "early.conv1.weight", "--slice", "0,:"}, "--slice");
  refused({"tensor", digits, "stem.relu_out", "--sample", "9"}, "there is no sample 9");
}

}  // namespace
}  // namespace fusescope::test
