#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
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

/// What --precision chose on one side, the file says on the other.
TEST(CliDiff, EveryDifferenceFromTheTypedNetworkThatWasExportedHasACause) {
  const TemporaryFolder folder;
  const std::string model = samplePath("bert_tiny"), typed = folder / "typed.onnx";
  ASSERT_EQ(fusescopeCommand({"export", model, "--precision", "f16", "--to", "onnx", "-o", typed}).status, 0);
  const Json json = jsonOf(fusescopeCommand({"diff", model, typed, "--plan-a", "--precision f16", "--json"}));
  EXPECT_GT(json["decisions"].size(), 10U);
  for (const char* part : {"decisions", "types", "casts", "fusions"})
    for (const Json& change : json[part]) EXPECT_FALSE(change["because"].empty()) << change.dump();
  const Json both = {"--precision f16 → f32", "the networks: the file of B itself declares f16"};
  EXPECT_NE(std::ranges::find(json["decisions"], both, [](const Json& change) { return change["because"]; }),
            json["decisions"].end());
}

TEST(CliDiff, ReadsTheErrorsOfBothSides) {
  const TemporaryFolder folder;
  const std::string model = samplePath("fp16_overflow");
  const std::string inputs = sampleInputs("fp16_overflow");
  const std::string pins = "--pin node_linear_1=f32 --pin node_relu_1=f32 --pin node_layer_norm=f32";
  const auto write = [&](const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> command{"errors", model, "--precision", "f16", "--inputs", inputs, "--json"};
    command.insert(command.end(), options.begin(), options.end());
    const std::string path = folder / name;
    EXPECT_TRUE(writeFileAtomically(path, fusescopeCommand(command).out).ok());
    return path;
  };
  const std::string a = write("a.json", {});
  const std::string b =
      write("b.json", {"--pin", "node_linear_1=f32", "--pin", "node_relu_1=f32", "--pin", "node_layer_norm=f32"});
  const std::vector<std::string> command{"diff", model, model, "--precision", "f16", "--plan-b", pins};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = command;
    all.insert(all.end(), more.begin(), more.end());
    return fusescopeCommand(all);
  };
  const Json json = jsonOf(with({"--errors-a", a, "--errors-b", b, "--json"}));
  EXPECT_EQ(json["errors_alike"], true);
  EXPECT_EQ(json["a"]["errors_on"], "io.npz, 1 sample, against f32 on native");
  bool output = false, node = false;
  for (const Json& error : json["errors"]) {
    output = output || error.value("is_output", false);
    const bool overflows = error.contains("a") && error["a"][0]["name"] == "node_linear_1 + node_relu_1";
    if (!overflows) continue;
    node = true;
    EXPECT_EQ(error["a_local"], "inf") << error.dump();
    EXPECT_LT(error["b_local"].get<double>(), 1e-2) << error.dump();
  }
  EXPECT_TRUE(output && node) << json["errors"].dump(1);
  const auto text = with({"--errors-a", a, "--errors-b", b});
  EXPECT_NE(text.out.find("@@ errors, max |Δ| over rms, on io.npz, 1 sample, against f32 on native @@\n~ output "),
            std::string::npos)
      << text.out;
  const auto swapped = with({"--errors-a", b, "--errors-b", a});
  EXPECT_EQ(swapped.status, 2);
  EXPECT_NE(swapped.err.find("b.json"), std::string::npos) << swapped.err;
  EXPECT_NE(swapped.err.find("another plan"), std::string::npos) << swapped.err;
  EXPECT_EQ(with({"--errors-a", inputs}).status, 2);
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

TEST(CliDiff, AQuoteThatNothingClosesIsBadUse) {
  const std::string model = samplePath("fp16_overflow");
  for (const char* options : {"--pin 'node_relu_1=f16", "--pin node_relu_1=f16 \"", "--split `node_relu_1\\`"}) {
    const auto result = fusescopeCommand({"diff", model, model, "--plan-b", options});
    EXPECT_EQ(result.status, 2) << options << "\n" << result.out;
    EXPECT_NE(result.err.find("--plan-b"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("quote"), std::string::npos) << result.err;
  }
  const auto closed =
      fusescopeCommand({"diff", model, model, "--plan-b", "--pin 'node_relu_1=f16'  --split \"node_relu_1\""});
  EXPECT_EQ(closed.status, 0) << closed.err;
}

TEST(CliDiff, WhatOneSideQuantisesIsBecauseOfItsOptions) {
  const TemporaryFolder folder;
  const std::string model = samplePath("digits"), ranges = folder / "ranges.json";
  const std::string inputs = sampleInputs("digits");
  ASSERT_EQ(fusescopeCommand({"calibrate", model, "--inputs", inputs, "-o", ranges}).status, 0);
  for (const std::string& options : {"--precision int8 --ranges '" + ranges + "'", std::string("--weight-only int8")}) {
    const auto result = fusescopeCommand({"diff", model, model, "--plan-b", options, "--all"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out.find("cause not known"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find("because of the network"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("one network, quantised differently: 18 of 18 and "), std::string::npos) << result.out;
  }
}

TEST(CliDiff, IsTheSameEveryTime) {
  const std::vector<std::string> command{"diff", samplePath("bert_tiny"), samplePath("tiny_resnet_dynbatch"), "--all"};
  const auto first = fusescopeCommand(command);
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(fusescopeCommand(command).out, first.out);
}

}  // namespace
}  // namespace fusescope::test
