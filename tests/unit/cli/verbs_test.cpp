#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

#include "base/files.h"
#include "base/json.h"
#include "onnxlib/onnx_text.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

/// Whatever its status.
Json printedBy(const ProcessResult& result) {
  auto json = Json::parse(result.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result.out << result.err;
  return json;
}

ProcessResult overflowRun(std::vector<std::string> more) {
  std::vector<std::string> arguments{
      "run",      samplePath("fp16_overflow"),   "--precision", "f16", "--inputs", sampleInputs("fp16_overflow"),
      "--expect", sampleInputs("fp16_overflow"), "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return fusescopeCommand(arguments);
}

TEST(Cli, inspectTellsTheModulesOfANetwork) {
  const auto result = fusescopeCommand({"inspect", samplePath("bert_tiny"), "--modules", "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = Json::parse(result.out);
  std::map<std::string, Json> modules;
  for (const Json& module : json["modules"]) modules[module["path"].get<std::string>()] = module;
  const Json& layer = modules.at("m.encoder.layer.1");
  EXPECT_EQ(layer["title"], "layer.1");
  EXPECT_EQ(layer["parent"], "m.encoder.layer.0…1");
  EXPECT_EQ(layer["nodes"], 40);
  EXPECT_GT(layer["kernels"], 0);
  EXPECT_GT(layer["flops"], 0);
  EXPECT_EQ(layer["pattern"], "module:m.encoder.layer.1");
  EXPECT_EQ(modules.at("m.encoder.layer.0…1")["copies"], 2);
  EXPECT_TRUE(modules.at("m.encoder.layer.0…1")["pattern"].is_null()) << "no pattern names a run";
  EXPECT_NE(fusescopeCommand({"inspect", samplePath("bert_tiny"), "--modules"}).out.find("layer.0 · attention"),
            std::string::npos);
}

/// A node of no module between two of one is shown in it; the pattern of the module does not name it.
TEST(Cli, inspectTellsHowManyNodesOfAModuleItsPatternNames) {
  const TemporaryFolder folder;
  const auto written = onnxlib::onnxTextToBytes(
      "<ir_version: 8, opset_import: [\"\" : 18]>\n"
      "net (float[4, 4] x) => (float[4, 4] y) { [attn_q_first] a = Tanh(x) [attn_q_second] b = Exp(a) [alone] c = "
      "Abs(b) "
      "[attn_k_first] d = Tanh(c) [attn_k_second] e = Sin(d) [mlp_one] f = Relu(e) [mlp_two] y = Neg(f) }");
  ASSERT_TRUE(written.ok()) << written.error().text();
  std::string bytes = written.value();  // the textual syntax has no names with slashes
  for (const std::string_view name :
       {"attn_q_first", "attn_q_second", "attn_k_first", "attn_k_second", "mlp_one", "mlp_two"})
    std::replace(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.find(name)),
                 bytes.begin() + static_cast<std::ptrdiff_t>(bytes.find(name) + name.size()), '_', '/');
  const std::string model = folder.write("net.onnx", bytes);
  const Json printed = printedBy(fusescopeCommand({"inspect", model, "--modules", "--json"}));
  std::map<std::string, Json> modules;
  for (const Json& module : printed["modules"]) modules[module["path"].get<std::string>()] = module;
  ASSERT_TRUE(modules.contains("attn"));
  EXPECT_EQ(modules["attn"]["nodes"], 5);
  EXPECT_EQ(modules["attn"]["named"], 4);
  EXPECT_TRUE(modules["attn"]["pattern"].is_null());
  EXPECT_EQ(modules["mlp"]["named"], 2);
  EXPECT_EQ(modules["mlp"]["pattern"], "module:mlp");
  const std::string text = fusescopeCommand({"inspect", model, "--modules"}).out;
  EXPECT_NE(text.find("5, 4 named"), std::string::npos) << text;
  EXPECT_NE(text.find("which the network names no module"), std::string::npos) << text;
}

// fasterrcnn_mobilenet has more findings of one kind than anybody reads; they must not hide the others.
TEST(Cli, inspectGathersFindingsOfOneKind) {
  const auto network = zooModel("fasterrcnn_mobilenet");
  if (!network) GTEST_SKIP() << "no filled networks; scripts/test makes them and sets FUSESCOPE_ZOO";
  std::map<std::string, std::size_t> codes;
  const Json findings = jsonOf(fusescopeCommand({"inspect", network->string(), "--json"}))["findings"];
  for (const Json& finding : findings) ++codes[finding["code"].get<std::string>()];
  std::string expected;
  std::size_t printed = 0;
  for (const auto& [code, count] : codes) {
    printed += std::min<std::size_t>(count, 3);
    if (count > 3) expected = "and " + std::to_string(count - 3) + " more of this kind: --json lists them";
  }
  ASSERT_LT(printed, findings.size());
  EXPECT_NE(fusescopeCommand({"inspect", network->string()}).out.find(expected), std::string::npos) << expected;
}

TEST(Cli, inspectSaysWhatTheModelHolds) {
  const auto result = fusescopeCommand({"inspect", samplePath("fp16_overflow"), "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = printedBy(result);
  EXPECT_EQ(json["nodes"], 6);
  EXPECT_EQ(json["operators"]["Gemm"], 3);
  EXPECT_EQ(json["inputs"][0]["dims"], Json({4, 64}));
  EXPECT_TRUE(json["cannot_run"].empty());
}

TEST(Cli, overflowInFloat16IsSeenAndMendedByPins) {
  const auto overflowing = overflowRun({});
  EXPECT_EQ(overflowing.status, 1) << overflowing.err;
  EXPECT_EQ(printedBy(overflowing)["ok"], false);
  const auto pinned = overflowRun(
      {"--pin", "node_linear_1=f32", "--pin", "node_relu_1=f32", "--pin", "node_layer_norm=f32", "--tol-rms", "1e-2"});
  EXPECT_EQ(pinned.status, 0) << pinned.out << pinned.err;
  EXPECT_EQ(printedBy(pinned)["ok"], true);
}

TEST(Cli, planTellsWhatBecameOfTheNodesOfTheFile) {
  const std::string model = samplePath("bert_tiny");
  const auto told = fusescopeCommand({"plan", model, "--precision", "f16", "--original", "--json"});
  ASSERT_EQ(told.status, 0) << told.err;
  const Json json = printedBy(told);
  EXPECT_EQ(json["format"], "fusescope.file_nodes");
  const Json plan = printedBy(fusescopeCommand({"plan", model, "--precision", "f16", "--json"}));
  std::set<std::string> kernels, held;
  for (const Json& fused : plan["fused_nodes"]) kernels.insert(fused["identity"]);
  std::size_t gone = 0;
  for (const Json& node : json["nodes"]) {
    for (const Json& kernel : node["kernels"]) held.insert(kernel["identity"]);
    const bool isGone = node["fate"] == "folded" || node["fate"] == "removed" || node["fate"] == "constant";
    EXPECT_EQ(node["kernels"].empty(), isGone) << node.dump();
    EXPECT_EQ(node["why"].is_string(), isGone) << node.dump();
    gone += isGone;
  }
  EXPECT_EQ(held, kernels) << "every kernel holds nodes of the file";
  EXPECT_GT(gone, 0U);
  const auto table = fusescopeCommand({"plan", model, "--original"});
  EXPECT_NE(table.out.find(std::to_string(json["nodes"].size()) + " nodes of the file in"), std::string::npos)
      << table.out;
}

TEST(Cli, truncationAllLeavesNothingWideInSegments) {
  const auto all =
      fusescopeCommand({"plan", samplePath("long_double"), "--target", "tensorrt-8", "--truncate", "all", "--json"});
  ASSERT_EQ(all.status, 0) << all.err;
  const auto json = printedBy(all);
  EXPECT_FALSE(json["truncation"]["inputs"].empty());
  for (const auto& fused : json["fused_nodes"]) {
    for (const auto& output : fused["outputs"]) {
      for (const auto& segment : json["segments"]) {
        if (segment["id"] != fused["segment"] || segment["kind"] != "accelerated") continue;
        EXPECT_NE(output["type"], "int64") << fused["name"];
        EXPECT_NE(output["type"], "f64") << fused["name"];
      }
    }
  }
}

TEST(Cli, truncationNoneFallsBackAndSaysWhatWouldHelp) {
  const auto none =
      fusescopeCommand({"plan", samplePath("long_double"), "--target", "tensorrt-8", "--truncate", "none", "--json"});
  ASSERT_EQ(none.status, 0) << none.err;
  const auto json = printedBy(none);
  std::size_t fallback = 0, named = 0;
  for (const auto& segment : json["segments"]) fallback += segment["kind"] == "fallback" ? 1 : 0;
  for (const auto& decision : json["decisions"]) {
    const bool refused = decision["allowed"] == false;
    named += refused && decision["message"].get<std::string>().find("--truncate") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(fallback, 0U);
  EXPECT_GT(named, 0U);
}

TEST(Cli, badUseAndBadInputExitWith2) {
  const TemporaryFolder folder;
  std::ofstream(folder / "empty.onnx");
  std::ofstream(folder / "text.onnx") << "this is no network";
  const auto whole = readTextFile(samplePath("squeezenet1_1"));
  ASSERT_TRUE(whole.ok());
  std::ofstream(folder / "cut.onnx", std::ios::binary) << whole.value().substr(0, whole.value().size() / 3);
  for (const char* name : {"empty.onnx", "text.onnx", "cut.onnx", "missing.onnx"}) {
    const auto result = fusescopeCommand({"inspect", (folder / name).string()});
    EXPECT_EQ(result.status, 2) << name;
    EXPECT_NE(result.err.find(name), std::string::npos) << result.err;
    EXPECT_TRUE(result.out.empty()) << result.out;
  }
  const auto bert = samplePath("bert_tiny");
  EXPECT_EQ(fusescopeCommand({"plan", bert, "--bogus"}).status, 2);
  EXPECT_EQ(fusescopeCommand({"plan", bert, "--pin", "node_layer_nrom=f16"}).status, 2);
  EXPECT_EQ(fusescopeCommand({"plan", bert, "--target", "toaster"}).status, 2);
  EXPECT_EQ(fusescopeCommand({}).status, 2);
}

TEST(Cli, numbersOutOfRangeAreRefusedInWords) {
  const auto threads = fusescopeCommand({"time", samplePath("fp16_overflow"), "--threads", "-3"});
  EXPECT_EQ(threads.status, 2);
  EXPECT_NE(threads.err.find("-3 must be between 1 and"), std::string::npos) << threads.err;
  const auto warmup = fusescopeCommand({"time", samplePath("fp16_overflow"), "--warmup", "-1"});
  EXPECT_EQ(warmup.status, 2);
  EXPECT_NE(warmup.err.find("-1 must be 0 or more"), std::string::npos) << warmup.err;
}

TEST(Cli, aTypeThatTheTargetLacksIsSaid) {
  const std::string sentence =
      "bf16 was asked for, but tensorrt-8 does not calculate in bf16: no node was lowered to it";
  for (const char* verb : {"plan", "errors"}) {
    const std::vector<std::string> command{verb, samplePath("digits"), "--target", "tensorrt-8", "--precision"};
    const auto saidWith = [&](const char* types) {
      std::vector<std::string> arguments = command;
      arguments.emplace_back(types);
      const ProcessResult result = fusescopeCommand(arguments);
      EXPECT_EQ(result.status, 0) << result.err;
      return result.out.find(sentence) != std::string::npos;
    };
    EXPECT_TRUE(saidWith("bf16")) << verb;
    EXPECT_TRUE(saidWith("bf16,f16")) << verb;
    EXPECT_FALSE(saidWith("f16")) << verb;
  }
}

TEST(Cli, aPredictionNamesTheCompilerThatCanBeAsked) {
  const auto lineOf = [](const char* target) {
    return fusescopeCommand({"plan", samplePath("digits"), "--target", target})
        .out.find("--compiler tensorrt-rtx asks it");
  };
  EXPECT_NE(lineOf("tensorrt-rtx"), std::string::npos);
  EXPECT_EQ(lineOf("tensorrt-8"), std::string::npos);
}

TEST(Cli, savedPlanIsTakenAndTakesNoOptions) {
  const TemporaryFolder folder;
  const auto plan = (folder / "p.json").string();
  ASSERT_EQ(fusescopeCommand({"plan", samplePath("fp16_overflow"), "--split", "node_linear", "-o", plan}).status, 0);
  const auto exported = fusescopeCommand({"export", plan, "--to", "directives"});
  EXPECT_EQ(exported.status, 0) << exported.err;
  EXPECT_NE(exported.out.find("node_linear"), std::string::npos);
  EXPECT_EQ(fusescopeCommand({"run", plan, "--precision", "f16"}).status, 2);
}

TEST(Cli, aDirectivesFileKeepsTargetAndPrecision) {
  const TemporaryFolder folder;
  const auto file = (folder / "d.json").string();
  const auto planned = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"plan", samplePath("fp16_overflow"), "--json", "--directives", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return printedBy(fusescopeCommand(arguments))["options"];
  };
  const auto written =
      fusescopeCommand({"export", samplePath("fp16_overflow"), "--target", "tensorrt-10", "--precision", "f16", "--pin",
                        "node_linear_1=f32", "--to", "directives", "-o", file});
  ASSERT_EQ(written.status, 0) << written.err;
  const Json kept = planned({});
  EXPECT_EQ(kept["target"], "tensorrt-10");
  EXPECT_EQ(kept["precisions"], Json::array({"f16"}));
  EXPECT_EQ(kept["directives"]["directives"].size(), 1U);
  const Json beside = planned({"--target", "cpu", "--precision", "bf16", "--pin", "op:Relu=f32"});
  EXPECT_EQ(beside["target"], "cpu");
  EXPECT_EQ(beside["precisions"], Json::array({"bf16"}));
  EXPECT_EQ(beside["directives"]["directives"].size(), 2U);
}

TEST(Cli, patternsThatCannotBeUsedSayWhatWouldMendThem) {
  const auto refused = [](const std::string& pin) {
    const auto result = fusescopeCommand({"plan", samplePath("bert_tiny"), "--pin", pin});
    EXPECT_EQ(result.status, 2) << pin;
    return result.err;
  };
  EXPECT_NE(refused("module:m.encoder.layers.1=f16").find("module:m.encoder.layer.1"), std::string::npos);
  EXPECT_NE(refused("/layer(/=f16").find("missing )"), std::string::npos);
  EXPECT_NE(refused("node_gelu=f15").find("'f15' is not a type"), std::string::npos);
  const auto both = fusescopeCommand(
      {"plan", samplePath("bert_tiny"), "--pin", "node_gelu=f16:obey", "--pin", "module:m.encoder.*=f32:obey"});
  EXPECT_EQ(both.status, 2);
  EXPECT_NE(both.err.find("--pin node_gelu=f16:obey"), std::string::npos) << both.err;
  EXPECT_NE(both.err.find("--pin 'module:m.encoder.*=f32:obey'"), std::string::npos) << both.err;
}

TEST(Cli, engineIsBuiltRunAndInspected) {
  const TemporaryFolder folder;
  const auto engine = (folder / "e.fse").string();
  const auto built = fusescopeCommand({"build", samplePath("fp16_overflow"), "--no-measure", "-o", engine, "--json"});
  ASSERT_EQ(built.status, 0) << built.err;
  EXPECT_GT(printedBy(built)["regions"].get<int>(), 0);
  EXPECT_EQ(printedBy(built)["bytes"].get<std::uintmax_t>(), std::filesystem::file_size(engine));
  const auto ran = fusescopeCommand(
      {"run", engine, "--inputs", sampleInputs("fp16_overflow"), "--expect", sampleInputs("fp16_overflow")});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(printedBy(fusescopeCommand({"inspect", engine, "--json"}))["engine"]["backend"], "native");
}

TEST(Export, trtexecRefusesWhatAnotherNodesLayerMayBeCalled) {
  const auto refused = fusescopeCommand({"export", samplePath("fp16_overflow"), "--pin", "node_linear_1=f32", "--to",
                                         "trtexec", "--trt-version", "10.3"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("--to polygraphy"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("'node_linear'"), std::string::npos) << refused.err;
}

TEST(Export, trtexecTakesLayerNamesFromTheLog) {
  const TemporaryFolder folder;
  const auto log = (folder / "build.log").string();
  std::ofstream(log) << "[V] [TRT] Registering layer: node_linear for ONNX node: node_linear\n"
                        "[V] [TRT] Registering layer: node_linear_1 for ONNX node: node_linear\n"
                        "[V] [TRT] Registering layer: node_linear_1_2 for ONNX node: node_linear_1\n"
                        "[V] [TRT] Registering layer: node_linear_1_5 for ONNX node: node_linear_1\n";
  const auto result =
      fusescopeCommand({"export", samplePath("fp16_overflow"), "--precision", "f16", "--pin", "node_linear_1=f32:obey",
                        "--to", "trtexec", "--trt-version", "10.3", "--layer-names", log});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("--fp16 \\\n  --precisionConstraints=obey \\\n"
                            "  --layerPrecisions=node_linear_1_2:fp32,node_linear_1_5:fp32\n"),
            std::string::npos)
      << result.out;
}

TEST(Export, versionsStrictnessAndTypesAreChecked) {
  const auto attempt = [](std::vector<std::string> more) {
    std::vector<std::string> arguments{"export", samplePath("fp16_overflow"), "--to", "trtexec"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusescopeCommand(arguments);
  };
  EXPECT_EQ(attempt({"--trt-version", "10.3", "--pin", "node_relu=f32"}).status, 0);
  EXPECT_EQ(attempt({"--trt-version", "11.0", "--pin", "node_relu=f32"}).status, 2);
  EXPECT_EQ(attempt({"--pin", "node_relu=f32"}).status, 2);
  EXPECT_EQ(attempt({"--trt-version", "8.6", "--pin", "node_relu=bf16"}).status, 2);
  EXPECT_EQ(attempt({"--trt-version", "10.3", "--pin", "node_relu=f32:obey", "--pin", "node_linear=f32"}).status, 2);
  EXPECT_EQ(attempt({"--trt-version", "10.3"}).status, 2);
  const auto script =
      fusescopeCommand({"export", samplePath("fp16_overflow"), "--pin", "node_linear_1=f32", "--to", "polygraphy"});
  ASSERT_EQ(script.status, 0) << script.err;
  EXPECT_NE(script.out.find("PRECISIONS = {\n    \"node_linear_1\": trt.float32,\n}"), std::string::npos);
}

TEST(Export, whatDoesNotHoldIsNamedAndObeyMakesItStatus1) {
  const auto attempt = [](const std::string& how) {
    return fusescopeCommand({"export", samplePath("long_double"), "--target", "tensorrt-8", "--truncate", "none",
                             "--pin", "node_linear=f16" + how, "--pin", "node_mul=f16" + how, "--to", "trtexec",
                             "--trt-version", "8.6"});
  };
  const auto preferred = attempt("");
  EXPECT_EQ(preferred.status, 0) << preferred.err;
  EXPECT_NE(preferred.err.find("warning: a directive is not honoured: --pin node_mul=f16"), std::string::npos)
      << preferred.err;
  EXPECT_NE(preferred.out.find("# a directive is not honoured: --pin node_mul=f16"), std::string::npos)
      << preferred.out;
  const auto obeyed = attempt(":obey");
  EXPECT_EQ(obeyed.status, 1) << obeyed.err;
  EXPECT_NE(obeyed.out.find("# a directive is not honoured: --pin node_mul=f16:obey"), std::string::npos) << obeyed.out;
}

TEST(Export, aPlanForThisMachineWarns) {
  const TemporaryFolder folder;
  const auto file = (folder / "precision.sh").string();
  const auto result = fusescopeCommand({"export", samplePath("fp16_overflow"), "--pin", "node_relu=f32", "--to",
                                        "trtexec", "--trt-version", "10.3", "-o", file, "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("the plan was made for cpu"), std::string::npos) << result.err;
  EXPECT_EQ(printedBy(result)["warnings"].size(), 1U);
  const auto strong = fusescopeCommand({"export", samplePath("fp16_overflow"), "--target", "tensorrt-11", "--pin",
                                        "node_relu=f32", "--to", "polygraphy"});
  EXPECT_EQ(strong.status, 2);
  EXPECT_NE(strong.err.find("strongly typed"), std::string::npos) << strong.err;
}

}  // namespace
}  // namespace fusescope::test
