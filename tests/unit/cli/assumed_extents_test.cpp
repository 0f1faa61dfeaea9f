#include <gtest/gtest.h>

#include "base/json.h"
#include "ir/graph.h"
#include "tests/support/process.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

std::string written(const TemporaryFolder& folder, const std::string& graph) {
  return folder.write("model.onnx", onnxBytes(graph)).string();
}

bool says(const ProcessResult& result, std::string_view part) {
  return result.err.find(part) != std::string::npos;
}

TEST(AssumedExtents, AreSaidWithTheFile) {
  const TemporaryFolder folder;
  const auto model = written(folder, "g (float[batch,1,n] x, float[4,1,256] w) => (y) { y = Conv (x, w) }");
  const auto json = Json::parse(fusescopeCommand({"inspect", model, "--json"}).out);
  ASSERT_EQ(json["findings"].size(), 2U);
  EXPECT_EQ(json["findings"][0]["code"], "infer.demand");  // the window must fit
  EXPECT_EQ(json["findings"][1]["code"], "input.assumed");
  EXPECT_EQ(json["findings"][1]["subject"], "x");
  const auto text = fusescopeCommand({"inspect", model}).out;
  EXPECT_NE(text.find("n is 256, because with 128"), std::string::npos) << text;
}

TEST(AssumedExtents, WhatFailsUnderThemSaysSo) {
  const TemporaryFolder folder;
  // The elements of s are random numbers below 8: no inference can tell that there are too few.
  const auto model = written(folder, "g (float[2,n] x, int64[3] s) => (y) { a = Reshape (x, s) y = Relu (a) }");
  const auto assumed = fusescopeCommand({"run", model});
  EXPECT_EQ(assumed.status, 2);
  EXPECT_TRUE(says(assumed, "were assumed, as with --input x=2,128; give others")) << assumed.err;
  const auto given = fusescopeCommand({"run", model, "--input", "x=2,128"});
  EXPECT_EQ(given.status, 2);
  EXPECT_FALSE(says(given, "assumed")) << given.err;
}

TEST(AssumedExtents, OnlyThoseThatTakePartAreNamed) {
  const TemporaryFolder folder;
  const auto two = written(folder,
                           "g (float[2,n] x, int64[3] s, float[m,5] z) => (y, w) { a = Reshape (x, s) y = Relu (a) w = "
                           "Neg (z) }");
  const auto failed = fusescopeCommand({"run", two});
  EXPECT_TRUE(says(failed, "--input x=2,128; give others")) << failed.err;
  EXPECT_FALSE(says(failed, "z=")) << failed.err;
  const auto other = fusescopeCommand({"run", two, "--inputs", (folder.path() / "nothing.npz").string()});
  EXPECT_FALSE(says(other, "assumed")) << other.err;
  const auto expected = fusescopeCommand({"run", two, "--expect", (folder.path() / "nothing.npz").string()});
  EXPECT_EQ(expected.status, 2);
  EXPECT_FALSE(says(expected, "assumed")) << expected.err;
}

TEST(AssumedExtents, AnOperatorWithoutKernelIsNotForTheirSake) {
  const TemporaryFolder folder;
  const auto model =
      folder.write("odd.onnx", onnxBytes("g (float[2,n] x) => (y) { y = vendor.Odd (x) }", 18, ", \"vendor\" : 1"));
  const auto failed = fusescopeCommand({"run", model.string()});
  EXPECT_EQ(failed.status, 2);
  EXPECT_TRUE(says(failed, "vendor")) << failed.err;
  EXPECT_FALSE(says(failed, "assumed")) << failed.err;
}

TEST(AssumedExtents, AreNotBlamedForAnOptionThatIsWrong) {
  const TemporaryFolder folder;
  const auto model = written(folder, "g (float[n] x) => (float[n] y) { y = Relu (x) }");
  const auto failed = fusescopeCommand({"run", model, "--steps", "2", "--feed", "y=z"});
  EXPECT_EQ(failed.status, 2);
  EXPECT_TRUE(says(failed, "option '--feed': is not an input of this network. Its inputs are x.")) << failed.err;
  EXPECT_FALSE(says(failed, "assumed")) << failed.err;
}

TEST(AssumedExtents, WhatCannotBeAssumedIsAskedFor) {
  const TemporaryFolder folder;
  const auto model = written(folder,
                             "g (float[batch,n] x) => (y) <int64[3] s = {7919, 7907, 7901}> "
                             "{ a = Reshape (x, s) y = Relu (a) }");
  EXPECT_EQ(fusescopeCommand({"plan", model}).status, 0) << "planning needs no extents";
  for (const char* verb : {"run", "time"}) {
    const auto asked = fusescopeCommand({verb, model});
    EXPECT_EQ(asked.status, 2);
    EXPECT_TRUE(says(asked, "'x'") && says(asked, "--input x=batch,n")) << asked.err;
  }
}

TEST(AssumedExtents, FollowWhatIsGivenForAnother) {
  const TemporaryFolder folder;
  const auto model = written(folder, "g (float[batch,n] x, float[batch,m] z) => (y) { y = Concat <axis = 1> (x, z) }");
  const auto json = Json::parse(fusescopeCommand({"inspect", model, "--input", "x=3,5", "--json"}).out);
  EXPECT_EQ(json["input_specs"][0]["source"], "user");
  EXPECT_EQ(json["input_specs"][1]["opt"], Json({3, 128}));
  EXPECT_EQ(json["input_specs"][1]["source"], "assumed") << "m is nobody's word";
}

}  // namespace
}  // namespace fusescope::test
