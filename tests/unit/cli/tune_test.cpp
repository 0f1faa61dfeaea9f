#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "interchange/npz.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

std::string spoiledFile(const std::string& name) {
  return std::string(FUSESCOPE_SOURCE_DIR) + "/tests/unit/tuning/spoiled/" + name;
}

/// `tune` of a spoiled network in f16 on its inputs, cut into two samples.
ProcessResult tuned(const std::string& network, const std::string& output, std::vector<std::string> more) {
  std::vector<std::string> arguments{"tune",         spoiledFile(network + ".onnx"),
                                     "--precision",  "f16",
                                     "--inputs",     spoiledFile("inputs.npz"),
                                     "--batch-axis", "0",
                                     "--json",       "-o",
                                     output};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return fusescopeCommand(arguments);
}

std::vector<std::string> patternsOf(const Json& json) {
  std::vector<std::string> patterns;
  for (const Json& pin : json["chosen"]["pins"]) patterns.push_back(pin["pattern"].get<std::string>());
  return patterns;
}

/// What `errors` says of the worst output with these directives: what tune promised.
double errorWith(const std::string& network, const std::string& directives) {
  const Json json = jsonOf(fusescopeCommand({"errors", spoiledFile(network + ".onnx"), "--directives", directives,
                                             "--inputs", spoiledFile("inputs.npz"), "--batch-axis", "0", "--json"}));
  return json["outputs"][0]["carried"]["max_over_rms"].get<double>();
}

struct Known {
  const char* network;
  double maxError;
  std::size_t pins;  ///< the fewest
};

class SpoiledNetwork : public testing::TestWithParam<Known> {};

TEST_P(SpoiledNetwork, IsMendedByWhatSpoilsIt) {
  const auto& [network, maxError, pins] = GetParam();
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string();
  const Json json = jsonOf(tuned(network, output, {"--max-error", std::to_string(maxError), "--baselines"}));
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["minimal"], true);
  EXPECT_EQ(json["chosen"]["pins"].size(), pins) << json["chosen"];
  for (const std::string& pattern : patternsOf(json)) EXPECT_EQ(pattern.rfind("spoiled.", 0), 0U) << pattern;
  for (const Json& pin : json["chosen"]["pins"]) {
    EXPECT_TRUE(pin["error_without"] == "inf" || pin["error_without"].get<double>() > maxError) << pin;
    EXPECT_NE(pin["why"].get<std::string>().find("without it"), std::string::npos);
  }
  ASSERT_EQ(json["baselines"].size(), 3U);
  for (const Json& baseline : json["baselines"]) {
    EXPECT_TRUE(baseline["pins"].is_null() || baseline["pins"] > json["chosen"]["pins"].size()) << baseline;
    EXPECT_EQ(baseline["end"], "finished");
  }
  EXPECT_LE(errorWith(network, output), maxError) << "what was written does it";
}

INSTANTIATE_TEST_SUITE_P(Tune, SpoiledNetwork,
                         testing::Values(Known{"scaled_pair", 0.05, 3}, Known{"large_logits", 0.05, 3},
                                         Known{"tiny_variance", 0.05, 2}, Known{"large_sum", 0.05, 2},
                                         Known{"two_at_once", 0.05, 5}),
                         [](const auto& of) { return std::string(of.param.network); });

TEST(Tune, KnownSearchesAnswerBehindTheBudget) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string();
  const Json json = jsonOf(tuned("two_at_once", output, {"--max-error", "0.05", "--baselines", "--evaluations", "12"}));
  EXPECT_EQ(json["end"], "evaluations");
  EXPECT_EQ(json["evaluations"], 12);
  ASSERT_EQ(json["baselines"].size(), 3U);
  EXPECT_EQ(json["baselines"][0]["end"], "finished");
  EXPECT_FALSE(json["baselines"][0]["pins"].is_null());
  EXPECT_EQ(json["baselines"][2]["end"], "evaluations") << "ranking takes more than twelve";
  EXPECT_TRUE(json["baselines"][2]["pins"].is_null());
}

TEST(Tune, IsTheSameTwiceToTheByte) {
  const TemporaryFolder folder;
  const std::string first = (folder / "a.json").string(), second = (folder / "b.json").string();
  for (const std::string& output : {first, second})
    jsonOf(tuned("two_at_once", output, {"--max-error", "0.01", "--seed", "3", "--evaluations", "150"}));
  EXPECT_EQ(readTextFile(first).value(), readTextFile(second).value());
}

TEST(Tune, GoesOnWhereItWasStopped) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string(), state = (folder / "state.json").string();
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--max-error", "0.05", "--resume", state});
    return jsonOf(tuned("two_at_once", output, more));
  };
  const Json stopped = run({"--evaluations", "20"});
  EXPECT_EQ(stopped["end"], "evaluations");
  EXPECT_EQ(stopped["evaluations"], 20);
  const Json resumed = run({});
  EXPECT_EQ(resumed["end"], "finished");
  const std::string resumedPins = readTextFile(output).value();
  std::filesystem::remove(state);
  run({});
  EXPECT_EQ(readTextFile(output).value(), resumedPins) << "as if it had not been stopped";

  const auto other = tuned("scaled_pair", output, {"--max-error", "0.05", "--resume", state});
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("state.json"), std::string::npos) << other.err;
  folder.write("state.json", R"({"format": "fusescope.tuning", "version": 2, "key": "0"})");
  EXPECT_EQ(tuned("scaled_pair", output, {"--max-error", "0.05", "--resume", state}).status, 2);
}

TEST(Tune, WhatItKeptIsOfItsInputsAlone) {
  const TemporaryFolder folder;
  const std::string model = folder
                                .write("model.onnx", onnxBytes("g (float[4] x) => (int64[1] y) { "
                                                               "[square] h = Mul (x, x) "
                                                               "[pick] y = ArgMax <axis = 0> (h) }"))
                                .string();
  const auto tuneOn = [&](const std::string& name, const std::vector<float>& x) {
    const std::string inputs = (folder / name).string();
    EXPECT_TRUE(writeNpz(inputs, {{"x", Tensor::copyOf<float>(DataType::F32, {4}, x)}}).ok());
    return fusescopeCommand({"tune", model, "--precision", "f16", "--inputs", inputs, "--max-error", "0", "--resume",
                             (folder / "state.json").string(), "-o", (folder / "pins.json").string()});
  };
  EXPECT_EQ(tuneOn("first.npz", {1, 2, 3, 4}).status, 0);
  EXPECT_EQ(tuneOn("first.npz", {1, 2, 3, 4}).status, 0);
  const auto other = tuneOn("second.npz", {1, 2, 300, 400});
  EXPECT_EQ(other.status, 2) << "the same output of other inputs, for which both become infinite";
  EXPECT_NE(other.err.find("other inputs"), std::string::npos) << other.err;
}

TEST(Tune, WhereFloat32ItselfIsNotFiniteThereIsNothingToFind) {
  const TemporaryFolder folder;
  const std::string model =
      folder.write("model.onnx", onnxBytes("g (float[2] x) => (float[2] y) { y = Log (x) }")).string();
  const std::string inputs = (folder / "x.npz").string();
  ASSERT_TRUE(writeNpz(inputs, {{"x", Tensor::copyOf<float>(DataType::F32, {2}, std::vector<float>{-1, -2})}}).ok());
  const auto result = fusescopeCommand({"tune", model, "--precision", "f16", "--inputs", inputs, "--max-error", "0.1",
                                        "-o", (folder / "pins.json").string()});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("'y'"), std::string::npos) << result.err;
  EXPECT_NE(fusescopeCommand({"errors", model, "--precision", "f16", "--inputs", inputs}).out.find("not comparable"),
            std::string::npos);
}

TEST(Tune, WhatWasEvaluatedIsKeptWhereTheMetricFails) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string(), state = (folder / "state.json").string();
  const auto script =
      folder.write("metric.sh", "echo x >> \"$0.calls\"; test $(wc -l < \"$0.calls\") -lt 6 && echo 7\n");
  const auto failed =
      tuned("scaled_pair", output, {"--max-error", "3", "--metric", "sh " + script.string(), "--resume", state});
  EXPECT_EQ(failed.status, 2);
  EXPECT_EQ(Json::parse(readTextFile(state).value())["evaluations"].size(), 5U);
}

TEST(Tune, WhatWasNotEvaluatedIsNoNumber) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string();
  const auto stopped = tuned("scaled_pair", output, {"--max-error", "0.05", "--evaluations", "1"});
  const Json json = jsonOf(stopped);
  for (const char* key : {"error", "ms", "casts", "bytes"}) EXPECT_TRUE(json["unpinned"][key].is_null()) << json;
  EXPECT_EQ(json["all_pinned"]["error"], 0);
}

/// How many elements are not zero, only a run tells: what such a network moves is not known, and is not 0 bytes.
TEST(Tune, BytesThatNobodyKnowsAreNotTold) {
  const TemporaryFolder folder;
  const std::string model =
      folder.write("open.onnx", onnxBytes("net (float[4, 4] x) => (float[n] y) { a = NonZero(x) b = Transpose(a) "
                                          "c = GatherND(x, b) d = Exp(c) y = Tanh(d) }"));
  std::vector<std::string> words{"tune", model, "--precision", "f16", "--max-error", "0.1", "-o", folder / "pins.json"};
  const auto text = fusescopeCommand(words);
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("bytes not known"), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("0 B moved"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("costs are conversions only, because bytes depend on extents that are not known"),
            std::string::npos)
      << text.out;
  words.emplace_back("--json");
  EXPECT_TRUE(jsonOf(fusescopeCommand(words))["chosen"]["bytes"].is_null());
}

TEST(Tune, WhatCannotBeWrittenIsToldBeforeTheSearch) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string(), missing = (folder / "none" / "file").string();
  const auto told = [&](const std::vector<std::string>& more, const std::string& option) {
    const auto refused = tuned("two_at_once", output, more);
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find(option), std::string::npos) << refused.err;
    EXPECT_EQ(refused.err.find("evaluation"), std::string::npos) << refused.err;
  };
  EXPECT_NE(tuned("two_at_once", missing, {"--max-error", "0.05"}).err.find("--output"), std::string::npos);
  told({"--max-error", "0.05", "--resume", missing}, "--resume");
  told({"--max-error", "0.05", "--resume", output}, "--resume");
}

TEST(Tune, AMetricOfTheUserIsWhatIsBounded) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string();
  // An error that is only the share of what is not finite: numpy is not needed to count files.
  const auto script = folder.write("metric.sh", "cmp -s \"$1\" \"$2\" && echo 0 || echo 7\n");
  const Json json = jsonOf(
      tuned("scaled_pair", output, {"--max-error", "3", "--metric", "sh " + script.string(), "--evaluations", "60"}));
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["unpinned"]["error"], 7);
  EXPECT_EQ(json["chosen"]["error"], 0);
  EXPECT_GT(json["chosen"]["pins"].size(), 2U) << "equal bytes take more than a small error";
  const auto failed = tuned("scaled_pair", output, {"--max-error", "3", "--metric", "false"});
  EXPECT_EQ(failed.status, 2);
  EXPECT_NE(failed.err.find("--metric"), std::string::npos) << failed.err;
}

/// A metric that never ends takes no more than the time that the search has.
TEST(Tune, AMetricThatNeverEndsIsEndedByTheBudget) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string();
  const auto script = folder.write("metric.sh",
                                   "echo x >> \"$0.calls\"; test $(wc -l < \"$0.calls\") -lt 3 || sleep 600\n"
                                   "cmp -s \"$1\" \"$2\" && echo 0 || echo 7\n");
  const Json json = jsonOf(tuned(
      "scaled_pair", output, {"--max-error", "3", "--metric", "sh " + script.string(), "--budget", "2", "--explain"}));
  EXPECT_EQ(json["end"], "seconds");
  EXPECT_EQ(json["evaluations"], 1) << "everything pinned, by the engine and by the reference";
  EXPECT_EQ(json["ok"], true) << "that is as good as in float32";
}

TEST(Tune, WhatIsFoundHoldsOnTheReferenceToo) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string(), state = (folder / "state.json").string();
  const Json json = jsonOf(tuned("scaled_pair", output, {"--max-error", "0.05", "--resume", state}));
  EXPECT_EQ(json["backend"], "native");
  ASSERT_TRUE(json["chosen"]["error_on_reference"].is_number()) << json["chosen"];
  EXPECT_LE(json["chosen"]["error_on_reference"], 0.05);
  EXPECT_LE(json["chosen"]["error_here"], 0.05);
  const Json errors =
      jsonOf(fusescopeCommand({"errors", spoiledFile("scaled_pair.onnx"), "--directives", output, "--inputs",
                               spoiledFile("inputs.npz"), "--batch-axis", "0", "--backend", "reference", "--json"}));
  EXPECT_NEAR(errors["outputs"][0]["carried"]["max_over_rms"].get<double>(),
              json["chosen"]["error_on_reference"].get<double>(), 1e-5);
  const Json again = jsonOf(tuned("scaled_pair", output, {"--max-error", "0.05", "--resume", state}));
  EXPECT_EQ(again["chosen"], json["chosen"]) << "what was remembered is what was measured";
}

/// On the engine two pins have less than the limit, on the reference more.
TEST(Tune, WhatTheEngineAloneAllowsIsNotFound) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string(), model = samplePath("fp16_overflow"),
                    inputs = (std::filesystem::path(model).parent_path() / "io.npz").string();
  const Json json = jsonOf(fusescopeCommand(
      {"tune", model, "--precision", "f16", "--inputs", inputs, "--max-error", "0.0017", "--json", "-o", output}));
  EXPECT_EQ(json["ok"], true);
  EXPECT_LE(json["exported"]["reference"]["error"], 0.0017);
  EXPECT_LE(json["exported"]["engine"]["error"], 0.0017);
  const Json errors = jsonOf(fusescopeCommand(
      {"errors", model, "--directives", output, "--inputs", inputs, "--backend", "reference", "--json"}));
  EXPECT_LE(errors["outputs"][0]["carried"]["max_over_rms"], 0.0017);
}

/// Without pins the plan has less than the limit, the network that stores each value more.
TEST(Tune, WhatIsFoundIsWithinTheLimitOnceItIsExported) {
  const TemporaryFolder folder;
  const std::string model = samplePath("tiny_resnet_dynbatch"), pins = (folder / "pins.json").string(),
                    ranges = (folder / "ranges.json").string(), network = (folder / "typed.onnx").string(),
                    inputs = (std::filesystem::path(model).parent_path() / "io.npz").string();
  ASSERT_EQ(fusescopeCommand({"calibrate", model, "--inputs", inputs, "-o", ranges}).status, 0);
  const std::vector<std::string> types{"--precision", "int8,bf16", "--ranges", ranges, "--inputs", inputs};
  const auto withTypes = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), types.begin(), types.end());
    return fusescopeCommand(arguments);
  };
  const Json json = jsonOf(withTypes({"tune", model, "--max-error", "0.0062", "--json", "-o", pins}));
  EXPECT_EQ(json["ok"], true);
  const auto exported =
      withTypes({"export", model, "--directives", pins, "--tol-rms", "0.0062", "--to", "onnx", "-o", network});
  EXPECT_EQ(exported.status, 0) << exported.err;
}

/// A pin that the user obeys settles its node: another pin there holds nowhere, and is not counted.
TEST(Tune, WhatAnObeyedPinSettlesIsNotPinnable) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string();
  const Json all = jsonOf(tuned("scaled_pair", output, {"--max-error", "0.05"}));
  const std::string node = all["chosen"]["pins"][0]["pattern"];
  const auto result = tuned("scaled_pair", output, {"--max-error", "0.05", "--pin", node + "=f16:obey"});
  EXPECT_EQ(result.status, 1) << "what spoils it may not be pinned: " << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["pinnable"], all["pinnable"].get<int>() - 1);
  for (const Json& pin : json["chosen"]["pins"]) EXPECT_NE(pin["pattern"], node);
}

TEST(Tune, InterruptedItWritesTheBestSoFar) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string();
  // The metric sleeps, so that the search is in the midst of it when the interrupt comes.
  const auto script = folder.write("metric.sh", "sleep 0.2\ncmp -s \"$1\" \"$2\" && echo 0 || echo 7\n");
  const auto result = runProcess({"/usr/bin/env",
                                  "timeout",
                                  "--preserve-status",
                                  "--signal=INT",
                                  "5",
                                  binary("fusescope").string(),
                                  "tune",
                                  spoiledFile("two_at_once.onnx"),
                                  "--precision",
                                  "f16",
                                  "--inputs",
                                  spoiledFile("inputs.npz"),
                                  "--batch-axis",
                                  "0",
                                  "--max-error",
                                  "3",
                                  "--metric",
                                  "sh " + script.string(),
                                  "--json",
                                  "-o",
                                  output});
  const Json json = jsonOf(result);
  EXPECT_EQ(json["end"], "stopped");
  EXPECT_EQ(json["ok"], true) << "with everything pinned it is as good as in float32";
  EXPECT_EQ(json["minimal"], false);
  const Json written = Json::parse(readTextFile(output).value());
  EXPECT_EQ(written["directives"].size(), json["chosen"]["pins"].size());
  EXPECT_EQ(written["precision"], Json({"f16"}));
  EXPECT_FALSE(written["directives"][0]["note"].get<std::string>().empty());
}

TEST(Tune, ASpeedUpNeedsTimes) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string();
  const auto result = tuned("large_sum", output, {"--min-speedup", "1.1"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("--min-speedup"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("fusescope build"), std::string::npos) << result.err;
}

TEST(Tune, PinsOfTheUserStayAndAreNotCounted) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string();
  const Json json = jsonOf(tuned("scaled_pair", output, {"--max-error", "0.05", "--pin", "spoiled.*=f32:obey"}));
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["chosen"]["pins"].size(), 0U);
  const Json written = Json::parse(readTextFile(output).value());
  ASSERT_EQ(written["directives"].size(), 1U);
  EXPECT_EQ(written["directives"][0]["pattern"], "spoiled.*");
  const ProcessResult people = fusescopeCommand({"tune", spoiledFile("scaled_pair.onnx"), "--precision", "f16",
                                                 "--inputs", spoiledFile("inputs.npz"), "--batch-axis", "0",
                                                 "--max-error", "0.05", "--pin", "spoiled.*=f32:obey", "-o", output});
  for (const char* text : {"without further pins: ", "the plan keeps 1 pin that it has, which is not counted",
                           "found: none of ", "no further pin is needed"})
    EXPECT_NE(people.out.find(text), std::string::npos) << text << "\n" << people.out;
  EXPECT_EQ(people.out.find("no single pin"), std::string::npos) << people.out;
}

TEST(Tune, ForPeopleItSaysWhatItFoundAndHow) {
  const TemporaryFolder folder;
  const auto result = fusescopeCommand({"tune", spoiledFile("tiny_variance.onnx"), "--precision", "bf16", "--max-error",
                                        "0.2", "--explain", "--baselines", "-o", (folder / "pins.json").string()});
  EXPECT_EQ(result.status, 0) << result.err;
  for (const char* text :
       {"spoiled.norm", "without it", "prefix", "suffix", "greedy", "random inputs", "evaluations on"})
    EXPECT_NE(result.out.find(text), std::string::npos) << text << "\n" << result.out;
  EXPECT_NE(result.err.find("pins"), std::string::npos) << "the front as it grows: " << result.err;
}

TEST(Tune, BadUseIsSaid) {
  const TemporaryFolder folder;
  const std::string output = (folder / "pins.json").string();
  const auto failsWith = [&](const std::vector<std::string>& more, const std::string& text) {
    const auto result = tuned("scaled_pair", output, more);
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
  };
  failsWith({"--metric", "true"}, "--max-error");  // in its unit
  failsWith({"--max-error", "-1"}, "--max-error");
  failsWith({"--min-speedup", "0"}, "--min-speedup");
  failsWith({"--max-error", "0.1", "--of", "nothing"}, "--of");
  EXPECT_FALSE(std::filesystem::exists(output)) << "nothing is written";
  const auto notReached = tuned("scaled_pair", output, {"--max-error", "0.00001", "--evaluations", "1"});
  EXPECT_EQ(notReached.status, 0) << "all pinned is exact: " << notReached.err;
}

}  // namespace
}  // namespace fusescope::test
