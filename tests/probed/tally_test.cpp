// A compiler behind the probe, from the list to every command: tally (tally_kind.cpp).
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/json.h"
#include "compilers/compile_network.h"
#include "onnxlib/onnx_text.h"
#include "session/session.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace fusescope::test {
namespace {

constexpr const char* kNetwork = R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[4] x) => (float[4] y) <float[4] w = {1, -2, 3, 0.5}, float[4] b = {0.25, 1, -1, 2}> {
  [scale] a = Mul (x, w)
  [clip] c = Relu (a)
  [turn] d = Neg (c)
  [shift] e = Add (d, b)
  [last] y = Relu (e)
})";
/// One node more, in the middle, that tally refuses.
constexpr const char* kWithExp = R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[4] x) => (float[4] y) <float[4] w = {1, -2, 3, 0.5}, float[4] b = {0.25, 1, -1, 2}> {
  [scale] a = Mul (x, w)
  [clip] c = Relu (a)
  [grow] d = Exp (c)
  [shift] e = Add (d, b)
  [last] y = Relu (e)
})";

class Tally : public ::testing::Test {
 protected:
  Tally() {
    ::setenv("XDG_CONFIG_HOME", (m_folder / "configuration").c_str(), 1);
    ::setenv("TMPDIR", m_temporary.path().c_str(), 1);
    ::setenv("FUSESCOPE_PYTHON", python().c_str(), 1);
    ::unsetenv("VIRTUAL_ENV");
  }
  ~Tally() override {
    ::unsetenv("TMPDIR");
    ::unsetenv("FUSESCOPE_PYTHON");
  }

  /// The command of a Python that has tally, in which `fault` happens.
  static std::string python(const std::string& fault = "", const std::string& more = "") {
    return "env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" FUSESCOPE_SOURCE_DIR "/tests/probed/python " + more +
           (fault.empty() ? "" : " 'FUSESCOPE_TEST_TALLY=" + fault + "'") + " python3";
  }
  static void plant(const std::string& fault) { ::setenv("FUSESCOPE_PYTHON", python(fault).c_str(), 1); }

  std::string file(std::string_view name) const { return m_folder / name; }
  std::string network(const char* text = kNetwork) const {
    const auto bytes = onnxlib::onnxTextToBytes(text);
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    return m_folder.write("network.onnx", bytes.value()).string();
  }

  static ProcessResult command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TALLY_FOLDER "/fusescope");
    return runProcess(arguments);
  }
  static Json json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const ProcessResult result = command(arguments);
    EXPECT_EQ(result.status, 0) << ::testing::PrintToString(arguments) << "\n" << result.err;
    Json json = Json::parse(result.out, nullptr, false);
    EXPECT_TRUE(json.is_object()) << result.out << result.err;
    return json;
  }
  static Json entryOf(const Json& list, const char* key, const Json& value) {
    for (const Json& entry : list)
      if (entry.value(key, Json()) == value) return entry;
    return {};
  }
  static std::vector<std::string> nodesOf(const Json& kernel) {
    std::vector<std::string> nodes;
    for (const Json& node : kernel["nodes"]) nodes.push_back(node["node"]);
    return nodes;
  }
  /// Outputs of our own engine, for what others give.
  std::string expected(const std::string& model) const {
    const ProcessResult ours = command({"run", model, "--outputs", file("ours.npz")});
    EXPECT_EQ(ours.status, 0) << ours.err;
    return file("ours.npz");
  }
  void expectSameNumbers(const std::string& model, const std::vector<std::string>& more = {},
                         const std::string& compiler = "tally") {
    std::vector<std::string> arguments{"run",      model,           "--compiler", compiler,
                                       "--expect", expected(model), "--tol-rms",  "1e-6"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult run = command(arguments);
    EXPECT_EQ(run.status, 0) << run.out << run.err;
  }

  TemporaryFolder m_folder, m_temporary;
};

TEST_F(Tally, IsListedWithWhatItCanDo) {
  const Json listed = json({"compilers"});
  const Json environment = entryOf(listed["environments"], "name", "FUSESCOPE_PYTHON");
  ASSERT_TRUE(environment.is_object()) << listed.dump(1);
  const Json tally = entryOf(environment["compilers"], "name", "tally");
  ASSERT_TRUE(tally.is_object()) << environment.dump(1);
  EXPECT_EQ(tally["version"], "1.5");
  EXPECT_EQ(tally["default"], true);
  EXPECT_EQ(tally["compiler"], "tally@FUSESCOPE_PYTHON");
  EXPECT_EQ(tally["devices"][0]["name"], "fingers");
  EXPECT_EQ(tally["options"][0]["name"], "hands");
  EXPECT_EQ(entryOf(tally["cannot"], "ability", "inner_values")["why"], "Tally forgets what it counted on the way.");
  EXPECT_NE(command({"compilers"}).out.find("tally"), std::string::npos);
}

TEST_F(Tally, TellsWhatItMakes) {
  const Json plan = json({"plan", network(), "--compiler", "tally", "--compiler-option", "hands=one"});
  EXPECT_EQ(plan["source"], "read_back");
  EXPECT_EQ(plan["compiler"]["name"], "tally");
  EXPECT_EQ(plan["compiler"]["version"], "1.5");
  EXPECT_EQ(plan["compiler"]["environment"], python());
  EXPECT_EQ(plan["compiler"]["options"]["hands"], "one");
  ASSERT_EQ(plan["kernels"].size(), 3U) << plan["kernels"].dump(1);
  EXPECT_EQ(nodesOf(plan["kernels"][0]), (std::vector<std::string>{"scale", "clip"}));
  EXPECT_EQ(nodesOf(plan["kernels"][1]), std::vector<std::string>{"turn"});
  EXPECT_EQ(nodesOf(plan["kernels"][2]), (std::vector<std::string>{"shift", "last"}));
  EXPECT_EQ(plan["kernels"][0]["nodes"][0]["certainty"], "named");
}

TEST_F(Tally, GivesTheNumbersOfOurOwnEngine) {
  expectSameNumbers(network());
}

TEST_F(Tally, WhatItRefusesRunsOnOurOwnEngine) {
  const std::string model = network(kWithExp);
  const Json plan = json({"plan", model, "--compiler", "tally"});
  EXPECT_EQ(plan["segments"].size(), 3U) << plan["segments"].dump(1);
  EXPECT_EQ(entryOf(plan["nodes"], "node", "grow")["fate"], "fallback");
  EXPECT_EQ(entryOf(plan["support"], "node", "grow")["message"], "Tally does not count Exp");
  EXPECT_EQ(entryOf(plan["nodes"], "node", "last")["fate"], "kernel");
  expectSameNumbers(model);
}

TEST_F(Tally, WhatTheUserKeepsFromItRunsOnOurOwnEngine) {
  const Json plan = json({"plan", network(), "--compiler", "tally", "--fallback", "turn"});
  EXPECT_EQ(plan["segments"].size(), 3U);
  EXPECT_EQ(entryOf(plan["nodes"], "node", "turn")["fate"], "fallback");
  EXPECT_EQ(entryOf(plan["nodes"], "node", "shift")["fate"], "kernel");
  expectSameNumbers(network(), {"--fallback", "turn"});
}

TEST_F(Tally, TheNodeThatABuildFailsAtFallsBack) {
  plant("fails Neg");
  const Json plan = json({"plan", network(), "--compiler", "tally"});
  const Json turn = entryOf(plan["support"], "node", "turn");
  EXPECT_EQ(turn["found_by"], "build") << plan["support"].dump(1);
  EXPECT_NE(turn["message"].get<std::string>().find("not enough fingers"), std::string::npos);
  EXPECT_EQ(entryOf(plan["nodes"], "node", "scale")["fate"], "kernel");
  expectSameNumbers(network());
}

TEST_F(Tally, ANodeThatItDiesOfFallsBackAlone) {
  plant("dies Mul");
  const Json plan = json({"plan", network(), "--compiler", "tally"});
  EXPECT_EQ(entryOf(plan["nodes"], "node", "scale")["fate"], "fallback");
  const std::string why = entryOf(plan["support"], "node", "scale")["message"];
  EXPECT_NE(why.find("ended with status 7"), std::string::npos) << why;
  EXPECT_NE(why.find("out of fingers"), std::string::npos) << why;
  for (const char* node : {"clip", "turn", "shift", "last"})
    EXPECT_EQ(entryOf(plan["nodes"], "node", node)["fate"], "kernel") << node;
  expectSameNumbers(network());
}

TEST_F(Tally, IsTimedKernelByKernel) {
  const Json time = json({"time", network(), "--compiler", "tally", "--seconds", "0.1", "--per-layer"});
  EXPECT_GT(time["median_ms"].get<double>(), 0);
  EXPECT_GT(time["samples"].get<int>(), 1);
  EXPECT_NE(time["remark"].get<std::string>().find("while it profiles"), std::string::npos);
  EXPECT_NE(time["remark"].get<std::string>().find("times of kernels are the same in every run"), std::string::npos);
  const Json& kernels = time["layers"][0]["layers"];
  ASSERT_EQ(kernels.size(), 3U) << time.dump(1);
  for (const Json& kernel : kernels) EXPECT_EQ(kernel["median_ms"], 0.25);
}

TEST_F(Tally, WhatItIsToldIsChecked) {
  const ProcessResult value = command({"plan", network(), "--compiler", "tally", "--compiler-option", "hands=three"});
  EXPECT_EQ(value.status, 2);
  EXPECT_NE(value.err.find("option 'hands' of tally cannot be 'three'"), std::string::npos) << value.err;
  const ProcessResult name = command({"plan", network(), "--compiler", "tally", "--compiler-option", "hand=one"});
  EXPECT_EQ(name.status, 2);
  EXPECT_NE(name.err.find("The nearest is hands."), std::string::npos) << name.err;
  const ProcessResult form = command({"plan", network(), "--compiler", "tally", "--compiler-option", "one"});
  EXPECT_EQ(form.status, 2);
  EXPECT_NE(form.err.find("NAME=VALUE"), std::string::npos) << form.err;
  EXPECT_EQ(command({"plan", network(), "--compiler-option", "hands=one"}).status, 2) << "ours has no options";
}

TEST_F(Tally, IsWhereItsEnvironmentIs) {
  EXPECT_EQ(command({"compilers", "add", "fingers", python()}).status, 0);
  ::unsetenv("FUSESCOPE_PYTHON");
  expectSameNumbers(network(), {}, "tally@fingers");
  EXPECT_EQ(command({"compilers", "remove", "fingers"}).status, 0);
  const ProcessResult gone = command({"plan", network(), "--compiler", "tally@fingers"});
  EXPECT_EQ(gone.status, 2);
  EXPECT_NE(gone.err.find("there is no environment 'fingers'"), std::string::npos) << gone.err;
  EXPECT_EQ(command({"compilers", "remove", "fingers"}).status, 2);
  expectSameNumbers(network(), {}, "tally@" + python());
}

TEST_F(Tally, IsKeptInAnEngineFile) {
  const ProcessResult built = command({"build", network(), "--compiler", "tally", "-o", file("e.fse")});
  EXPECT_EQ(built.status, 0) << built.err;
  const ProcessResult run = command({"run", file("e.fse"), "--expect", expected(network()), "--tol-rms", "1e-6"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_EQ(command({"build", network(), "--compiler", "tally", "--target", "cpu", "-o", file("f.fse")}).status, 2);
  EXPECT_NE(built.out.find("the compiler's count"), std::string::npos) << built.out;
  EXPECT_NE(built.out.find("4.00 KiB of memory"), std::string::npos) << built.out;
  const Json build = json({"build", network(), "--compiler", "tally", "-o", file("e.fse")});
  EXPECT_EQ(build["compiler_phases"], (Json{{{"name", "count"}, {"ms", 1.5}}}));
  EXPECT_EQ(build["compiler_peak_bytes"], 4096);
}

TEST_F(Tally, StandsBesideOurs) {
  const std::string model = network();
  const Json diff = json({"diff", model, model, "--plan-b", "--compiler tally"});
  EXPECT_EQ(diff["b"]["compiler"], "tally 1.5");
  EXPECT_EQ(diff["same"], false);
  const Json explained = json({"explain", model, "turn", "--compiler", "tally"});
  EXPECT_EQ(explained["made"]["fate"], "kernel") << explained.dump(1);
}

TEST_F(Tally, AProcessThatDiesInARunIsStartedAgain) {
  PlanOptions options{.compiler = "tally@" + python("dies run", "FUSESCOPE_TEST_DIED=" + file("died")),
                      .target = "onnxruntime"};
  const Compiler* compiler = findCompiler(options.compiler);
  ASSERT_NE(compiler, nullptr);
  EXPECT_EQ(compiler, findCompiler(options.compiler)) << "one for the life of the process";
  EXPECT_EQ(findCompiler("tally@"), nullptr);
  EXPECT_EQ(findCompiler("tallies@python3"), nullptr);
  ASSERT_EQ(command({"compilers", "add", "dying", options.compiler.substr(6)}).status, 0);  // confirms it
  const auto artifact = openArtifact(network(), {}, options);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const auto engine = openEngine(artifact.value(), {});
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  const auto inputs = randomInputs(*artifact.value().plan);
  const auto died = engine.value()->run(inputs);
  ASSERT_FALSE(died.ok());
  EXPECT_NE(died.error().message.find("ended with status 8"), std::string::npos) << died.error().text();
  const auto again = engine.value()->run(inputs);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_TRUE(again.value().outputs.contains("y"));
}

}  // namespace
}  // namespace fusescope::test
