#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "interchange/npz.h"
#include "tests/support/process.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

constexpr const char* kSessionNetwork =
    "g (float[2, 4] x, float[4, 4] w) => (float[2, 4] y) { [mm] a = MatMul (x, w) [last] y = Sigmoid (a) }";

/// A session with a pin, as a person may write one: what is left out has its default.
std::string writtenSession(const TemporaryFolder& folder, const std::string& model) {
  folder.write("model.onnx", onnxBytes(kSessionNetwork));
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

/// Numbers that float16 does not hold, for the network above.
std::string inputsIn(const TemporaryFolder& folder) {
  std::map<std::string, Tensor> inputs;
  for (const auto& [name, rows] : {std::pair("x", 2), std::pair("w", 4)}) {
    Tensor tensor = Tensor::zeros(DataType::F32, {rows, 4});
    const auto values = tensor.mutableData<float>();
    for (std::size_t i = 0; i < static_cast<std::size_t>(4 * rows); ++i) values[i] = 0.1F * float(i + 1);
    inputs.emplace(name, tensor);
  }
  const std::string file = (folder / "io.npz").string();
  EXPECT_TRUE(writeNpz(file, inputs).ok());
  return file;
}

TEST(SessionCommand, TakesTheModelAndWhatIsWishedOfItFromTheSession) {
  const TemporaryFolder folder;
  const std::string session = writtenSession(folder, "model.onnx");
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
  Json session = Json::parse(readTextFile(writtenSession(folder, "model.onnx")).value());
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

TEST(SessionCommand, ItsToleranceHoldsForEveryCommandThatJudges) {
  const TemporaryFolder folder;
  Json session = Json::parse(readTextFile(writtenSession(folder, "model.onnx")).value());
  session["options"].erase("directives");
  const auto ran = [&](std::vector<std::string> command, const Json& tolerance) {
    session["tolerance"] = tolerance;
    command.insert(command.begin() + 1, folder.write("s.fsession", session.dump()).string());
    return fusescopeCommand(command);
  };
  const std::string outputs = (folder / "exact.npz").string(), pins = (folder / "pins.json").string();
  const std::string network = (folder / "typed.onnx").string(), model = (folder / "model.onnx").string();
  ASSERT_EQ(fusescopeCommand({"run", model, "--outputs", outputs}).status, 0);
  const Json loose = {{"rms", 0.0625}}, none = {{"rms", 0.0}};
  for (const auto& [tolerance, status] : {std::pair(loose, 0), std::pair(none, 1)}) {
    const auto tuned = ran({"tune", "-o", pins, "--evaluations", "2", "--json"}, tolerance);
    EXPECT_EQ(Json::parse(tuned.out)["max_error"], tolerance["rms"]) << tuned.err;
    const auto errors = ran({"errors", "--json"}, tolerance);
    EXPECT_EQ(Json::parse(errors.out)["first_wrong"].is_null(), status == 0) << errors.out;
    EXPECT_EQ(ran({"run", "--expect", outputs}, tolerance).status, status);
  }
  // Without a session all three have what a session begins with.
  const auto lowered = [&](std::vector<std::string> command) {
    command.insert(command.begin() + 1, {model, "--precision", "bf16", "--json"});
    return Json::parse(fusescopeCommand(command).out);
  };
  EXPECT_EQ(lowered({"tune", "-o", pins})["max_error"], 1e-2);
  EXPECT_EQ(lowered({"run", "--expect", outputs})["ok"], true);
  // A bound of each element says nothing of what tune is to reach.
  const auto each = ran({"tune", "-o", pins}, {{"absolute", 1e-3}});
  EXPECT_EQ(each.status, 2);
  EXPECT_NE(each.err.find("--max-error"), std::string::npos) << each.err;
  // What is writtenSession as a network is judged by it, too.
  const auto exported = [&](const Json& tolerance) {
    return ran({"export", "--to", "onnx", "--inputs", inputsIn(folder), "-o", network}, tolerance);
  };
  EXPECT_EQ(exported(loose).status, 0) << exported(loose).err;
  EXPECT_NE(exported(none).status, 0);
}

TEST(SessionCommand, RefusesOtherOptionsBesideIt) {
  const TemporaryFolder folder;
  const auto refused =
      fusescopeCommand({"plan", "--session", writtenSession(folder, "model.onnx"), "--precision", "bf16"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("already contains"), std::string::npos) << refused.err;
  EXPECT_EQ(fusescopeCommand({"plan"}).status, 2);
}

TEST(SessionCommand, TakesAModelThatWasMovedFromTheCommandLine) {
  const TemporaryFolder folder;
  const std::string session = writtenSession(folder, "elsewhere.onnx");
  const auto missing = fusescopeCommand({"plan", "--session", session});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("elsewhere.onnx"), std::string::npos) << missing.err;
  EXPECT_EQ(fusescopeCommand({"plan", (folder.path() / "model.onnx").string(), "--session", session}).status, 0);
}

}  // namespace
}  // namespace fusescope::test
