#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "tests/support/process.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

constexpr const char* kNetwork =
    "g (float[2, 4] x, float[4, 4] w) => (float[2, 4] y) { [mm] a = MatMul (x, w) [last] y = Sigmoid (a) }";

/// A session with a pin, as a person may write one: what is left out has its default.
std::string written(const TemporaryFolder& folder, const std::string& model) {
  folder.write("model.onnx", onnxBytes(kNetwork));
  const Json session = {
      {"format", "fusescope.session"},
      {"version", 1},
      {"model", {{"path", model}}},
      {"options",
       {{"target", "cpu"},
        {"precisions", {"f16"}},
        {"directives",
         {{"format", "fusescope.directives"},
          {"version", 1},
          {"directives",
           {{{"id", "1"}, {"kind", "pin"}, {"pattern", "mm"}, {"type", "f32"}, {"strictness", "prefer"}}}}}}}}};
  return folder.write("s.fsession", session.dump()).string();
}

TEST(SessionCommand, TakesTheModelAndWhatIsWishedOfItFromTheSession) {
  const TemporaryFolder folder;
  const std::string session = written(folder, "model.onnx");
  for (const auto& arguments : {std::vector<std::string>{"plan", "--session", session, "--json"},
                                std::vector<std::string>{"plan", session, "--json"}}) {
    const auto planned = fusescopeCommand(arguments);
    ASSERT_EQ(planned.status, 0) << planned.err;
    const Json plan = Json::parse(planned.out);
    EXPECT_EQ(plan["precision"], Json::array({"f16"}));
    EXPECT_EQ(plan["precision_map"][0]["granted"], "f32");
  }
  const auto explained = fusescopeCommand({"explain", "--session", session, "mm", "--json"});
  EXPECT_EQ(explained.status, 0) << explained.err;
  EXPECT_EQ(fusescopeCommand({"run", "--session", session}).status, 0);
}

TEST(SessionCommand, ListsTheRunsOfASession) {
  const TemporaryFolder folder;
  Json session = Json::parse(readTextFile(written(folder, "model.onnx")).value());
  session["version"] = 2;
  session["shown"] = "2";
  session["runs"] = Json::array(
      {{{"id", "1"}, {"name", "baseline"}, {"kind", "plan"}, {"state", "ready"}, {"time", {{"median_ms", 2.0}}}},
       {{"id", "2"},
        {"name", "1 pin"},
        {"kind", "plan"},
        {"state", "ready"},
        {"evaluations",
         {{{"inputs", "a.npz"}, {"tolerance", {{"rms", 1e-2}}}, {"outputs", {{{"name", "y"}, {"ok", true}}}}},
          {{"inputs", ""},
           {"tolerance", {{"rms", 1e-2}}},
           {"outputs",
            {{{"name", "y"}, {"ok", false}, {"max_abs", 1.0}, {"max_over_rms", 0.5}, {"of_bound", 50.0}}}}}}}},
       {{"id", "3"},
        {"name", "run 2 against run 1"},
        {"kind", "comparison"},
        {"state", "ready"},
        {"comparison", {{"a", "1"}, {"b", "2"}, {"a_ms", 2.0}, {"b_ms", 1.0}, {"turns", 5}}}}});
  const std::string file = folder.write("runs.fsession", session.dump()).string();
  for (const auto& arguments : {std::vector<std::string>{"inspect", "--session", file, "--json"},
                                std::vector<std::string>{"inspect", file, "--json"}}) {
    const auto inspected = fusescopeCommand(arguments);
    ASSERT_EQ(inspected.status, 0) << inspected.err;
    const Json runs = Json::parse(inspected.out)["session"]["runs"];
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_EQ(runs[0]["median_ms"], 2.0);
    EXPECT_EQ(runs[0]["verdict"]["verdict"], "unknown");
    EXPECT_EQ(runs[1]["verdict"]["verdict"], "fail");  // the inputs of the session are random
    ASSERT_EQ(runs[1]["evaluations"].size(), 2U);
    EXPECT_EQ(runs[1]["evaluations"][0]["verdict"], "pass");
    EXPECT_EQ(runs[2]["kind"], "comparison");
    EXPECT_EQ(runs[2]["comparison"]["b_ms"], 1.0);
  }
  const auto table = fusescopeCommand({"inspect", file});
  EXPECT_NE(table.out.find("0.500 of run 1"), std::string::npos) << table.out;
  EXPECT_EQ(fusescopeCommand({"inspect"}).status, 2);
}

TEST(SessionCommand, RefusesOtherWishesBesideIt) {
  const TemporaryFolder folder;
  const auto refused = fusescopeCommand({"plan", "--session", written(folder, "model.onnx"), "--precision", "bf16"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("already holds"), std::string::npos) << refused.err;
  EXPECT_EQ(fusescopeCommand({"plan"}).status, 2);
}

TEST(SessionCommand, TakesAModelThatWasMovedFromTheCommandLine) {
  const TemporaryFolder folder;
  const std::string session = written(folder, "elsewhere.onnx");
  const auto missing = fusescopeCommand({"plan", "--session", session});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("elsewhere.onnx"), std::string::npos) << missing.err;
  EXPECT_EQ(fusescopeCommand({"plan", (folder.path() / "model.onnx").string(), "--session", session}).status, 0);
}

}  // namespace
}  // namespace fusescope::test
