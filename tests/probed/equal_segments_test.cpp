// Segments that are equal, weights included, ask a compiler once; each is still run with its own tensors.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "tests/probed/real_compilers_fixture.h"
#include "tests/probed/tally_fixture.h"
#include "tests/support/command_json.h"

namespace fusescope::test {
namespace {

/// `blocks` blocks of a product, a sum and a Relu with equal weights, and an operator after each but the last one.
/// `odd`: the number of a block with one other weight; -1: none.
std::string blocksWith(const std::string& between, const std::string& betweenName, int blocks, int odd) {
  std::string nodes, value = "x";
  for (int i = 0; i < blocks; ++i) {
    nodes += fmt::format("  [scale_{0}] a{0} = Mul ({1}, {2})\n", i, value, i == odd ? "v" : "w");
    nodes += fmt::format("  [shift_{0}] b{0} = Add (a{0}, b)\n", i);
    const bool isLast = i + 1 == blocks;
    nodes += fmt::format("  [clip_{0}] {1} = Relu (b{0})\n", i, isLast ? "y" : fmt::format("c{}", i));
    if (isLast) break;
    nodes += fmt::format("  [{0}_{1}] d{1} = {2} (c{1})\n", betweenName, i, between);
    value = fmt::format("d{}", i);
  }
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 18]>\nnet (float[4] x) => (float[4] y) <float[4] w = {{0.1, -0.2, 0.3, "
      "0.05}}, float[4] v = {{0.1, -0.2, 0.3, 0.0625}}, float[4] b = {{0.25, 1, -0.1, 0.2}}> {{\n{}}}",
      nodes);
}

class EqualSegments : public Tally {
 protected:
  EqualSegments() { ::setenv("FUSESCOPE_TEST_ASKED", file("asked").c_str(), 1); }
  ~EqualSegments() override { ::unsetenv("FUSESCOPE_TEST_ASKED"); }

  /// How often the compiler was asked for `op` since the last time.
  int timesAsked(const std::string& op) const {
    std::ifstream asked(file("asked"));
    int count = 0;
    for (std::string line; std::getline(asked, line);) count += line == op ? 1 : 0;
    asked.close();
    std::filesystem::remove(file("asked"));
    return count;
  }
};

TEST_F(EqualSegments, TwelveAskOnce) {
  const std::string model = network(blocksWith("Exp", "grow", 12, -1).c_str());
  const Json plan = json({"plan", model, "--compiler", "tally", "--cache", "off"});
  EXPECT_EQ(plan["segments"].size(), 23U);
  EXPECT_EQ(timesAsked("compile"), 1);
  const Json said = entryOf(plan["decisions"], "code", "partition.equal_segments");
  ASSERT_TRUE(said.is_object()) << plan["decisions"].dump(1);
  EXPECT_EQ(said["arguments"]["equal"], 12);
  EXPECT_EQ(said["arguments"]["of"], 12);
  EXPECT_EQ(said["arguments"]["segments"].size(), 12U);
  ASSERT_EQ(plan["kernels"].size(), 12U * 2 + 11U) << "each has its own kernels";
  for (int i = 0; i < 12; ++i) {
    const Json node = entryOf(plan["nodes"], "node", fmt::format("clip_{}", i));
    EXPECT_EQ(node["fate"], "kernel") << node;
    EXPECT_EQ(nodesOf(plan["kernels"][static_cast<std::size_t>(3 * i)]).front(), fmt::format("scale_{}", i));
  }
  const ProcessResult built =
      command({"build", model, "--compiler", "tally", "--cache", "off", "-o", file("engine.fse")});
  EXPECT_EQ(built.status, 0) << built.err;
  EXPECT_NE(built.out.find("12 of the 12 segments only once"), std::string::npos) << built.out;
  EXPECT_EQ(timesAsked("compile"), 1);
}

TEST_F(EqualSegments, EachIsRunWithItsOwnTensors) {
  const std::string model = network(blocksWith("Exp", "grow", 12, -1).c_str());
  expectSameNumbers(model);
  EXPECT_EQ(timesAsked("compile"), 1);
  const ProcessResult built = command({"build", model, "--compiler", "tally", "-o", file("engine.fse")});
  ASSERT_EQ(built.status, 0) << built.err;
  std::ignore = timesAsked("compile");
  const ProcessResult run = command({"run", file("engine.fse"), "--expect", expected(model), "--tol-rms", "1e-6"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_EQ(timesAsked("compile"), 1);
  const Json time = json({"time", model, "--compiler", "tally", "--seconds", "0.2", "--warmup", "0.01"});
  EXPECT_EQ(timesAsked("compile"), 1);
  EXPECT_GT(time["median_ms"].get<double>(), 0);
}

TEST_F(EqualSegments, AWeightThatDiffersAsksTwice) {
  const std::string model = network(blocksWith("Exp", "grow", 14, 3).c_str());
  const Json plan = json({"plan", model, "--compiler", "tally", "--cache", "off"});
  EXPECT_EQ(timesAsked("compile"), 2);
  const Json said = entryOf(plan["decisions"], "code", "partition.equal_segments");
  EXPECT_EQ(said["arguments"]["equal"], 13) << said;
  EXPECT_EQ(said["arguments"]["of"], 14);
  for (const Json& name : said["arguments"]["segments"])
    EXPECT_NE(entryOf(plan["segments"], "name", name)["nodes"][0], "scale_3") << said;
  expectSameNumbers(model);
}

/// A type that one of them is to calculate in is in the network that the compiler receives.
TEST_F(EqualSegments, APinOfOneOfThemAsksForItAlone) {
  const std::string model = network(blocksWith("Exp", "grow", 4, -1).c_str());
  const Json plan = json({"plan", model, "--compiler", "tally", "--cache", "off", "--pin", "clip_2=f16:prefer"});
  EXPECT_EQ(timesAsked("compile"), 2);
  EXPECT_EQ(entryOf(plan["decisions"], "code", "partition.equal_segments")["arguments"]["equal"], 3);
}

TEST_F(EqualSegments, NetworksInOnePieceSayNothing) {
  const Json plan = json({"plan", network(), "--compiler", "tally", "--cache", "off"});
  EXPECT_TRUE(entryOf(plan["decisions"], "code", "partition.equal_segments").is_null());
}

/// The process that all of them share ends while one is run: the next one compiles once more.
TEST_F(EqualSegments, TheProcessThatTheyShareMayDie) {
  const std::string died = file("died");
  ::setenv("FUSESCOPE_TEST_DIED", died.c_str(), 1);
  const std::string model = network(blocksWith("Exp", "grow", 3, -1).c_str());
  const std::string ours = expected(model);
  plant("dies run");
  const std::vector<std::string> run{"run", model,      "--compiler", "tally",     "--cache",
                                     "off", "--expect", ours,         "--tol-rms", "1e-6"};
  EXPECT_NE(command(run).status, 0) << "the run in which it dies";
  EXPECT_EQ(command(run).status, 0);
  ::unsetenv("FUSESCOPE_TEST_DIED");
}

/// ONNX Runtime and OpenVINO, with segments between nodes that our own engine runs.
class EqualSegmentsOfReal : public RealCompilersFixture {};

TEST_P(EqualSegmentsOfReal, GiveTheNumbersOfOurOwnEngine) {
  const auto bytes = onnxlib::onnxTextToBytes(blocksWith("Exp", "grow", 12, 5));
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  const std::string model = m_folder.write("network.onnx", bytes.value());
  const std::string ours = m_folder / "ours.npz", engine = m_folder / "engine.fse";
  ASSERT_EQ(fusescopeCommand({"run", model, "--outputs", ours}).status, 0);
  const std::vector<std::string> cut{"--compiler", GetParam(), "--fallback", "grow_*", "--cache", "off"};
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), cut.begin(), cut.end());
    return arguments;
  };
  const Json plan = commandJson(with({"plan", model}));
  EXPECT_EQ(plan["segments"].size(), 23U);
  Json said;
  for (const Json& decision : plan["decisions"])
    if (decision["code"] == "partition.equal_segments") said = decision;
  ASSERT_TRUE(said.is_object()) << plan["decisions"].dump(1);
  EXPECT_EQ(said["arguments"]["equal"], 11);
  EXPECT_EQ(said["arguments"]["of"], 12);
  const ProcessResult run = fusescopeCommand(with({"run", model, "--expect", ours, "--tol-rms", "1e-6"}));
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  const ProcessResult built = fusescopeCommand(with({"build", model, "-o", engine}));
  ASSERT_EQ(built.status, 0) << built.err;
  EXPECT_NE(built.out.find("11 of the 12 segments only once"), std::string::npos) << built.out;
  const ProcessResult again = fusescopeCommand({"run", engine, "--expect", ours, "--tol-rms", "1e-6"});
  EXPECT_EQ(again.status, 0) << again.out << again.err;
}

/// What was kept by an earlier build serves all of them, as the compiler's answer did.
TEST_P(EqualSegmentsOfReal, FindOneAnswerInTheStore) {
  const auto bytes = onnxlib::onnxTextToBytes(blocksWith("Exp", "grow", 6, -1));
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  const std::string model = m_folder.write("network.onnx", bytes.value());
  const auto build = [&] {
    return commandJson({"build", model, "--compiler", GetParam(), "--fallback", "grow_*", "--cache", "write", "-o",
                        m_folder / "engine.fse"});
  };
  const Json first = build(), again = build();
  const auto count = [](const Json& built, const std::string& code) {
    return std::ranges::count_if(built["decisions"], [&](const Json& decision) { return decision["code"] == code; });
  };
  EXPECT_EQ(count(first, "partition.equal_segments"), 1);
  EXPECT_EQ(count(again, "partition.equal_segments"), 1) << again["decisions"].dump(1);
  EXPECT_EQ(count(again, "cache.found"), 1);
  EXPECT_EQ(again["distinct"], first["distinct"]);
}

INSTANTIATE_TEST_SUITE_P(Compilers, EqualSegmentsOfReal, ::testing::Values("onnxruntime", "openvino"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace fusescope::test
