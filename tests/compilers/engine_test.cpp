// Engines of another compiler: built, kept, run and timed, beside our own.
#include <algorithm>
#include <csignal>
#include <filesystem>

#include "interchange/npz.h"
#include "ir/graph.h"
#include "session/build_and_run.h"
#include "session/inputs/random_inputs.h"
#include "tests/compilers/added_compiler_fixture.h"
#include "verify/compare_tensors.h"

namespace fusescope::test {
namespace {

class AddedCompilerEngine : public AddedCompiler {
 public:
  /// An engine that abacus compiled, in a file.
  std::string built(const std::string& model) const {
    const std::string path = file("abacus.fse");
    const ProcessResult result = command({"build", model, "--compiler", "abacus", "-o", path});
    EXPECT_EQ(result.status, 0) << result.err;
    return path;
  }
  /// What our own engine gives for inputs of the test's own, or for random ones.
  std::string ourOutputs(const std::string& model, const std::string& inputs = {}) const {
    std::vector<std::string> arguments{"run", model, "--outputs", file("ours.npz")};
    if (!inputs.empty()) arguments.insert(arguments.end(), {"--inputs", inputs});
    const ProcessResult result = command(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return file("ours.npz");
  }
};

TEST_F(AddedCompilerEngine, IsBuiltKeptInspectedAndRun) {
  const std::string model = everyFate(), path = file("abacus.fse");
  const Json report = json({"build", model, "--compiler", "abacus", "-o", path});
  EXPECT_GT(report["regions"].get<int>(), 5);
  EXPECT_EQ(report["bytes"].get<std::uintmax_t>(), std::filesystem::file_size(path));
  const Json engine = json({"inspect", path})["engine"];
  EXPECT_EQ(engine["backend"], "abacus");
  const Json plan = json({"plan", path});
  EXPECT_EQ(plan["source"], "read_back");
  EXPECT_EQ(entryOf(plan["nodes"], "node", "flat")["fate"], "view");
  const Json run = json({"run", path, "--expect", ourOutputs(model)});
  EXPECT_EQ(run["ok"], true);
}

TEST_F(AddedCompilerEngine, TakesOtherExtentsThanItWasBuiltFor) {
  const std::string model = sample("tiny_resnet_dynbatch"), engine = built(model), inputs = file("three.npz");
  const Artifact artifact = opened(model);
  ASSERT_TRUE(writeNpz(inputs, randomInputs(*artifact.plan, {{"x", {3, 3, 64, 64}}})).ok());
  const Json run = json({"run", engine, "--inputs", inputs, "--expect", ourOutputs(model, inputs)});
  EXPECT_EQ(run["ok"], true);
}

TEST_F(AddedCompilerEngine, GivesInnerValuesWhereTheyPassBetweenSegments) {
  const std::string model = everyFate();
  const ProcessResult inside = command({"run", model, "--compiler", "abacus", "--mark", "b"});
  EXPECT_EQ(inside.status, 2) << inside.out;
  EXPECT_NE(inside.err.find("'b'"), std::string::npos) << inside.err;
  EXPECT_NE(inside.err.find("is inside a part that abacus compiled: abacus hands out what a network gives"),
            std::string::npos)
      << inside.err;
  const ProcessResult misspelt = command({"run", model, "--compiler", "abacus", "--mark", "nothing_like_it"});
  EXPECT_EQ(misspelt.status, 2) << misspelt.out;
  EXPECT_NE(misspelt.err.find("--mark all keeps every value that one part of the network passes to another."),
            std::string::npos)
      << misspelt.err;
  const Json marked =
      json({"run", model, "--compiler", "abacus", "--mark", "f", "--mark", "g", "--mark", "j"})["marked"];
  for (const char* value : {"f", "g", "j"}) EXPECT_FALSE(entryOf(marked, "name", value).is_null()) << value;
  const Json all = json({"run", model, "--compiler", "abacus", "--mark", "all"})["marked"];
  EXPECT_FALSE(entryOf(all, "name", "i").is_null());
  EXPECT_TRUE(entryOf(all, "name", "b").is_null());
}

TEST_F(AddedCompilerEngine, IsTimedKernelByKernel) {
  const Json time = json({"time", built(everyFate()), "--seconds", "0.1", "--warmup", "0", "--per-layer"});
  EXPECT_GT(time["median_ms"].get<double>(), 0);
  EXPECT_TRUE(time["p95_ms"].is_null()) << "a sum of medians";
  EXPECT_NE(time["remark"].get<std::string>().find("passing tensors between them"), std::string::npos);
  ASSERT_EQ(time["layers"].size(), 5U) << "one of each segment";
  std::size_t told = 0;
  for (const Json& segment : time["layers"]) {
    ASSERT_TRUE(segment.contains("layers")) << segment["name"];
    for (const Json& kernel : segment["layers"]) told += kernel["median_ms"].is_number() ? 1 : 0;
  }
  EXPECT_GE(told, 4U);
  const Json product = entryOf(time["layers"][0]["layers"], "name", "beads(product, shift)");
  EXPECT_GT(product["median_ms"].get<double>(), 0);
  EXPECT_EQ(product["tactic"], "abacus");
  EXPECT_EQ(product["origins"], Json::array({"product", "shift"}));
  EXPECT_EQ(time["layers"][1]["tactic"], "fusescope");
}

TEST_F(AddedCompilerEngine, OfOneSegmentHasPercentiles) {
  const Json time = json({"time", sample("fp16_overflow"), "--compiler", "abacus", "--seconds", "0.1"});
  EXPECT_TRUE(time["remark"].is_null());
  EXPECT_TRUE(time["p95_ms"].is_number());
  EXPECT_TRUE(time["layers"].empty());
  const ProcessResult printed =
      command({"time", everyFate(), "--compiler", "abacus", "--seconds", "0.1", "--per-layer"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_NE(printed.out.find("segment_0/beads(product, shift)"), std::string::npos) << printed.out;
}

TEST_F(AddedCompilerEngine, StandsBesideOurs) {
  const std::string model = sample("fp16_overflow"), ours = file("ours.fse"), theirs = built(model);
  ASSERT_EQ(command({"build", model, "--no-measure", "-o", ours}).status, 0);
  const Json report = json({"compare", ours, theirs, "--seconds", "0.2"});
  EXPECT_FALSE(report["groups"].empty());
  EXPECT_TRUE(report["values"].empty()) << "abacus hands none out";
  ASSERT_EQ(report["outputs"].size(), 1U);
  EXPECT_LT(report["outputs"][0]["max_over_rms"].get<double>(), 1e-3);
  EXPECT_GT(report["a_ms"].get<double>(), 0);
  EXPECT_GT(report["b_ms"].get<double>(), 0);
}

/// A process that died is told once, and started again.
TEST_F(AddedCompilerEngine, SurvivesItsProcess) {
  const Artifact artifact = opened(sample("fp16_overflow"));
  const auto engine = openEngine(artifact, buildOptions(artifact, 1));
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  const auto inputs = randomInputs(*artifact.plan);
  const auto before = engine.value()->run(inputs);
  ASSERT_TRUE(before.ok()) << before.error().text();
  ASSERT_EQ(processes().size(), 1U);
  ::kill(*processes().begin(), SIGKILL);
  const auto died = engine.value()->run(inputs);
  ASSERT_FALSE(died.ok());
  EXPECT_NE(died.error().message.find("ended by signal 9"), std::string::npos) << died.error().message;
  const auto after = engine.value()->run(inputs);
  ASSERT_TRUE(after.ok()) << after.error().text();
  for (const auto& [name, tensor] : before.value().outputs)
    EXPECT_EQ(compareTensors(name, after.value().outputs.at(name), tensor, Tolerance::standard()).maxAbs, 0);
}

class AddedCompilerSamples : public AddedCompiler, public ::testing::WithParamInterface<const char*> {};

TEST_P(AddedCompilerSamples, GiveWhatOurOwnEngineGives) {
  const std::string model = sample(GetParam()), expected = file("ours.npz");
  ASSERT_EQ(command({"run", model, "--inputs", arrays(GetParam()), "--outputs", expected}).status, 0);
  const Json run = json({"run", model, "--compiler", "abacus", "--inputs", arrays(GetParam()), "--expect", expected});
  EXPECT_EQ(run["ok"], true);
}

TEST_P(AddedCompilerSamples, HaveOneFateForEachNode) {
  const Json plan = json({"plan", sample(GetParam()), "--compiler", "abacus"});
  for (const Json& node : plan["nodes"]) {
    const bool isHeld = node["fate"] == "kernel" || node["fate"] == "fallback";
    EXPECT_EQ(isHeld, !node["kernels"].empty()) << node.dump();
  }
  for (const Json& support : plan["support"]) {
    if (support["taken"] != false) continue;
    EXPECT_EQ(entryOf(plan["nodes"], "node", support["node"])["fate"], "fallback") << support.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(Bundled, AddedCompilerSamples,
                         ::testing::Values("bert_tiny", "squeezenet1_1", "fp16_overflow", "tiny_resnet_dynbatch",
                                           "moe_dense", "long_double", "digits"),
                         [](const auto& info) { return std::string(info.param); });

/// Of a Relu that two convolutions read: it is in the kernels of both.
TEST_F(AddedCompilerEngine, CalculatesAgainWhatTwoRead) {
  const Json plan = json({"plan", sample("squeezenet1_1"), "--compiler", "abacus"});
  const auto again = std::ranges::count_if(plan["nodes"], [](const Json& node) { return node["kernels"].size() == 2; });
  EXPECT_EQ(again, 8) << "the squeezed maps of eight blocks";
}

}  // namespace
}  // namespace fusescope::test
