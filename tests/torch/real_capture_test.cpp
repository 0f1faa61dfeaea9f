// A script's modules and TorchScript, through torch itself. Skipped where FUSESCOPE_TORCH_PYTHON names no Python that
// has it (scripts/test --torch sets it).
#include "interchange/npz.h"
#include "tests/torch/torch_fixture.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

class RealCode : public Torch {
 protected:
  void SetUp() override {
    const char* python = std::getenv("FUSESCOPE_TORCH_PYTHON");
    if (python == nullptr) GTEST_SKIP() << "no Python with torch: FUSESCOPE_TORCH_PYTHON is not set";
    ::setenv("FUSESCOPE_PYTHON", python, 1);
    ::setenv("FUSESCOPE_CACHE", (m_folder / "cache").c_str(), 1);
    fs::copy_file(TORCH_TESTS "/scripts/nets.py", script());
  }
  void TearDown() override { ::unsetenv("FUSESCOPE_PYTHON"); }

  std::string script() const { return m_folder / "nets.py"; }
  void writeExpected() const {
    const ProcessResult ran =
        runProcess({std::getenv("FUSESCOPE_TORCH_PYTHON"), "-B", script(), m_folder.path().string()});
    ASSERT_EQ(ran.status, 0) << ran.err;
  }
  /// What the module gave for its example inputs, under the name that the network has for its output and inputs.
  std::string expected(const std::string& function, const Json& made) const {
    const auto given = readNpz(m_folder / (function + ".npz"));
    EXPECT_TRUE(given.ok());
    NpzArrays named;
    named.emplace("out:" + made["outputs"][0].get<std::string>(), given.value().at("out"));
    named.emplace("in:" + made["inputs"][0].get<std::string>(), given.value().at("in:x"));
    for (const auto& [name, array] : given.value())
      if (name != "out" && name != "in:x") named.emplace(name, array);
    const std::string file = m_folder / (function + ".expected.npz");
    EXPECT_TRUE(writeNpz(file, named).ok());
    return file;
  }
  void expectSameNumbers(const std::string& function, const Json& made, const std::string& of) const {
    const std::string arrays = expected(of, made);
    const Json run = json({"run", made["program"], "--inputs", arrays, "--expect", arrays, "--tol-rms", "1e-5"});
    EXPECT_EQ(run["ok"], true) << function << "\n" << run.dump();
  }
  /// What is said of a function whose module torch cannot export.
  std::string notExported(const std::string& function) const {
    const ProcessResult result = fusescopeCommand({"import", script() + ":" + function, "--run-code"});
    EXPECT_EQ(result.status, 1) << result.out << result.err;
    return result.err;
  }
  static Json decisionOf(const Json& document, const std::string& code) {
    for (const Json& decision : document["captured"]["decisions"])
      if (decision["code"] == code) return decision;
    return Json::object();
  }
};

TEST_F(RealCode, ModulesGiveAsNetworksWhatTheyGiveInTorch) {
  writeExpected();
  for (const std::string function : {"module", "fx_graph", "dynamic", "as_dict", "steps"}) {
    SCOPED_TRACE(function);
    const Json made = json({"import", script() + ":" + function, "--run-code"});
    EXPECT_EQ(made["captured"]["way"], "torch.export (non-strict)");
    EXPECT_EQ(decisionOf(made, "import.put_in_evaluation").empty(), function == "fx_graph");
    expectSameNumbers(function, made, function);
    const Json run = json({"run", made["program"]});
    EXPECT_EQ(run["example_inputs"], true);
    if (function == "dynamic") {
      ASSERT_EQ(made["symbols"].size(), 1U);
      EXPECT_EQ(made["symbols"][0]["name"], "batch") << "as its author calls it";
    }
  }
  const Json specs = json({"inspect", m_folder / "nets.dynamic.pt2"})["input_specs"];
  EXPECT_EQ(specs[0]["min"], Json::array({1, 8}));
  EXPECT_EQ(specs[0]["max"], Json::array({64, 8}));
}

TEST_F(RealCode, BreaksAndRecompilationsAreToldWithTheirLines) {
  const Json made = json({"import", script() + ":steps", "--run-code", "--breaks"});
  const Json left = decisionOf(made, "import.graph_break"), again = decisionOf(made, "import.recompiled");
  ASSERT_FALSE(left.empty());
  EXPECT_EQ(left["arguments"]["file"], script());
  EXPECT_EQ(left["arguments"]["line"], 39);
  EXPECT_EQ(left["arguments"]["function"], "step");
  EXPECT_TRUE(has(left["arguments"]["reason"], "graph_break()")) << left.dump();
  EXPECT_FALSE(left["arguments"]["hints"].empty());
  ASSERT_FALSE(again.empty());
  EXPECT_EQ(again["arguments"]["file"], script());
  EXPECT_TRUE(has(again["arguments"]["reason"], "size mismatch at index 0")) << again.dump();
  const Json printing = json({"import", script() + ":as_dict", "--run-code", "--breaks"});
  EXPECT_EQ(decisionOf(printing, "import.graph_break")["arguments"]["line"], 26);
}

TEST_F(RealCode, WhatCannotBeExportedIsLocated) {
  const ProcessResult choice = fusescopeCommand({"import", script() + ":choice", "--run-code", "--json"});
  EXPECT_EQ(choice.status, 1);
  EXPECT_TRUE(has(choice.err, script() + ": line 32, in forward: torch ")) << choice.err;
  EXPECT_TRUE(has(choice.err, "data-dependent")) << choice.err;
  EXPECT_TRUE(has(choice.err, "torch.cond(")) << choice.err;
  EXPECT_EQ(decisionOf(Json::parse(choice.out), "import.graph_break")["arguments"]["line"], 32);
  const std::string raises = notExported("raises");
  EXPECT_TRUE(has(raises, script() + ": line 48, in forward: ")) << raises;
  const std::string narrow = notExported("narrow");
  EXPECT_TRUE(has(narrow, "width = 8")) << narrow;
  EXPECT_TRUE(has(narrow, "Change the dynamic shapes")) << narrow;
  for (const char* function : {"choice", "raises", "narrow"})
    EXPECT_FALSE(fs::exists(m_folder / (std::string("nets.") + function + ".pt2"))) << function;
}

TEST_F(RealCode, TorchScriptGivesAsNetworkWhatItsModuleGives) {
  writeExpected();
  for (const std::string file : {"scripted", "traced"}) {
    SCOPED_TRACE(file);
    const std::string path = m_folder / (file + ".pt");
    EXPECT_TRUE(has(problem({"import", path, "--run-code"}), "does not contain the extents of its inputs"));
    const Json made = json({"import", path, "--input", "x=3,8", "--run-code"});
    EXPECT_EQ(made["captured"]["way"], "TS2EPConverter");
    expectSameNumbers(file, made, "module");
    EXPECT_EQ(json({"run", made["program"]})["random_inputs"], true) << "numbers that were made up are no examples";
    const std::string old = m_folder / (file + ".onnx");
    EXPECT_EQ(json({"import", path, "--input", "x=3,8", "--run-code", "-o", old})["captured"]["way"],
              "torch.onnx.export(dynamo=False)");
    const Json inspected = json({"inspect", old});
    EXPECT_EQ(inspected["inputs"][0]["dims"], Json::array({3, 8}));
    const Json onnx{{"program", old}, {"inputs", {"x"}}, {"outputs", {inspected["outputs"][0]["name"]}}};
    expectSameNumbers(file, onnx, "module");
  }
  EXPECT_TRUE(has(problem({"import", m_folder / "weights.pt", "--input", "x=3,8", "--run-code"}), "no graph"));
}

}  // namespace
}  // namespace fusescope::test
