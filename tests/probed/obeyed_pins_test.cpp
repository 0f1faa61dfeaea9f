// A pin marked obey that a compiler ignores ends a command with status 1. Skipped where FUSESCOPE_COMPILERS_PYTHON
// names no Python that has OpenVINO.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.h"
#include "base/text.h"
#include "planning/directive.h"
#include "tests/probed/real_compilers_fixture.h"
#include "tests/support/process.h"

namespace fusescope::test {
namespace {

class ObeyedPins : public RealCompilersFixture {
 protected:
  /// With the type bf16 as a hint for the whole network, OpenVINO calculates each Softmax of bert_tiny in bf16.
  ProcessResult ended(std::vector<std::string> arguments, const char* strictness) const {
    arguments.insert(arguments.begin() + 1, (sampleFolder("bert_tiny") / "model.onnx").string());
    arguments.insert(arguments.end(), {"--compiler", GetParam(), "--precision", "bf16", "--pin",
                                       std::string("op:Softmax=f32:") + strictness});
    return fusescopeCommand(arguments);
  }
};

TEST_P(ObeyedPins, APinThatIsIgnoredEndsEveryCommandWithStatus1) {
  const std::string engine = (m_folder / "pinned.fse").string();
  const std::vector<std::vector<std::string>> commands{
      {"plan"}, {"build", "-o", engine}, {"run"}, {"time", "--seconds", "0.1"}};
  for (const std::vector<std::string>& arguments : commands) {
    const ProcessResult obey = ended(arguments, "obey");
    EXPECT_EQ(obey.status, 1) << arguments[0] << "\n" << obey.out;
    for (const char* node : {"node_Softmax_101", "node_Softmax_168"})
      EXPECT_NE(obey.err.find(std::string("node '") + node + "' must calculate in f32, and openvino does not obey"),
                std::string::npos)
          << arguments[0] << "\n"
          << obey.err;
    EXPECT_FALSE(std::filesystem::exists(engine)) << "an engine that does not obey is not written";
    EXPECT_EQ(ended(arguments, "prefer").status, 0) << arguments[0];
    std::filesystem::remove(engine);
  }
}

/// A search would look for further pins beside one that is not obeyed.
TEST_P(ObeyedPins, NoSearchIsBegunBesideAPinThatIsIgnored) {
  const std::string found = (m_folder / "found.json").string();
  const std::vector<std::vector<std::string>> commands{{"tune", "--max-error", "0.01", "-o", found},
                                                       {"errors", "--bisect", "--tol-rms", "0.0001"}};
  for (const std::vector<std::string>& arguments : commands) {
    const ProcessResult obey = ended(arguments, "obey");
    EXPECT_EQ(obey.status, 1) << arguments[0] << "\n" << obey.out << obey.err;
    EXPECT_NE(obey.err.find("node 'node_Softmax_101' must calculate in f32, and openvino does not obey"),
              std::string::npos)
        << arguments[0] << "\n"
        << obey.err;
    EXPECT_FALSE(std::filesystem::exists(found));
  }
}

TEST_P(ObeyedPins, AnOutputTypeThatIsIgnoredEndsWithStatus1) {
  const auto ended = [&](const char* strictness) {
    return fusescopeCommand({"plan", (sampleFolder("bert_tiny") / "model.onnx").string(), "--compiler", GetParam(),
                             "--precision", "bf16", "--output-type",
                             std::string("node_Softmax_101=f32:") + strictness});
  };
  const ProcessResult obey = ended("obey");
  EXPECT_EQ(obey.status, 1) << obey.out << obey.err;
  EXPECT_NE(obey.err.find("value 'val_103' must be stored in f32, and openvino stores it in bf16"), std::string::npos)
      << obey.err;
  EXPECT_EQ(ended("prefer").status, 0);
}

/// No compiler reports the types of nodes in bodies; our own engine runs those of a holder that falls back.
TEST_P(ObeyedPins, APinInABodyIsNotDisclosedUnlessOurEngineRunsTheBody) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto model = zooModel("control_flow_if");
  ASSERT_TRUE(model);
  const auto ended = [&](const char* strictness, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{
        "plan",       model->string(), "--pin", std::string("node_cond__0/then_branch/node_linear=f32:") + strictness,
        "--compiler", GetParam()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusescopeCommand(arguments);
  };
  const ProcessResult obey = ended("obey");
  EXPECT_EQ(obey.status, 1) << obey.out << obey.err;
  EXPECT_NE(obey.err.find("openvino does not say in which types the nodes of bodies calculate"), std::string::npos)
      << obey.err;
  EXPECT_EQ(ended("obey", {"--fallback", "node_cond__0"}).status, 0);
  const ProcessResult prefer = ended("prefer", {"--json"});
  EXPECT_EQ(prefer.status, 0) << prefer.err;
  EXPECT_NE(prefer.out.find("build.body_pin_not_disclosed"), std::string::npos);
}

/// A build without a file only asks what the compiler makes of the network, for the window's canvas.
TEST_P(ObeyedPins, TheWorkerRefusesWorkThatDoesNotObeyAndSaysWhatIsMade) {
  const Json options{{"compiler", GetParam()},
                     {"target", GetParam()},
                     {"precisions", {"bf16"}},
                     {"directives", toJson(Directives{parsePin("op:Softmax=f32:obey").value()})}};
  const Json source{{"path", (sampleFolder("bert_tiny") / "model.onnx").string()}, {"options", options}};
  const auto request = [&](int id, const char* op, const Json& settings) {
    return Json{{"id", id}, {"op", op}, {"source", source}, {"settings", settings}}.dump();
  };
  const ProcessResult asked = runProcess(
      {"python3", "-c", kAsksWorker, binary("fusescope-worker").string(), request(1, "build", {{"no_measure", true}}),
       request(2, "build", {{"output", (m_folder / "pinned.fse").string()}}), request(3, "time", {{"seconds", 0.1}}),
       request(4, "tune", {{"max_error", 0.01}})});
  const std::vector<std::string> ended = split(asked.out, '\n');
  ASSERT_GE(ended.size(), 4U) << asked.err;
  const Json made = Json::parse(ended[0]);
  ASSERT_EQ(made["event"], "done") << made;
  EXPECT_EQ(made["result"]["made"]["pins"][0]["result"], "ignored") << made["result"]["made"]["pins"];
  for (std::size_t i = 1; i < 4; ++i) {
    const Json refused = Json::parse(ended[i]);
    EXPECT_EQ(refused["event"], "error") << refused;
    EXPECT_NE(refused.dump().find("because of pin:1, it must calculate in f32, and openvino does not obey"),
              std::string::npos)
        << refused;
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, ObeyedPins, ::testing::Values("openvino"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace fusescope::test
