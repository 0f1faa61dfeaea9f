// torch itself, through every command. Skipped where FUSESCOPE_TORCH_PYTHON names no Python that has it
// (scripts/test --torch sets it).
#include "tests/torch/torch_fixture.h"

namespace fusescope::test {
namespace {

class RealTorch : public Torch {
 protected:
  void SetUp() override {
    const char* python = std::getenv("FUSESCOPE_TORCH_PYTHON");
    if (python == nullptr) GTEST_SKIP() << "no Python with torch: FUSESCOPE_TORCH_PYTHON is not set";
    FUSESCOPE_REQUIRE_SHARED();
    ::setenv("FUSESCOPE_PYTHON", python, 1);
  }
  void TearDown() override { ::unsetenv("FUSESCOPE_PYTHON"); }

  static std::string zoo(std::string_view network) { return zooModel(network)->string(); }
  static std::string arrays(std::string_view network) { return (zooModel(network)->parent_path() / "io.npz").string(); }
  static std::vector<std::string> torch(std::vector<std::string> arguments, const std::vector<std::string>& more = {}) {
    arguments.insert(arguments.end(), {"--compiler", "torch"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  static void expectNumbers(std::string_view network, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--inputs", arrays(network), "--expect", arrays(network)});
    const ProcessResult run = fusescopeCommand(torch({"run", zoo(network)}, more));
    EXPECT_EQ(run.status, 0) << network << "\n" << run.out << run.err;
  }
};

TEST_F(RealTorch, EagerGivesWhatIsExpected) {
  for (const char* network : {"bert_tiny", "unet_small", "llama_tiny", "diffusion_block", "tiny_resnet_dynbatch",
                              "squeezenet1_1", "long_double", "moe_dense"})
    expectNumbers(network);
}

TEST_F(RealTorch, HalfFloatsAreCloseByAutocast) {
  for (const char* network : {"bert_tiny", "llama_tiny"})
    expectNumbers(network, {"--precision", "f16", "--tol-rms", "0.02"});
}

TEST_F(RealTorch, AProgramThatNamesTypesCannotBeHalvedAsAWhole) {
  const std::string why =
      problem(torch({"plan", zoo("llama_tiny")}, {"--precision", "f16", "--compiler-option", "half=whole"}));
  EXPECT_TRUE(has(why, "torch could not run the exported program. RuntimeError")) << why;
}

TEST_F(RealTorch, InductorGivesWhatIsExpectedAndTellsItsKernels) {
  const std::vector<std::string> inductor{"--compiler-option", "mode=inductor"};
  expectNumbers("unet_small", inductor);
  const Json plan = json(torch({"plan", zoo("unet_small")}, inductor));
  EXPECT_GT(plan["kernels"].size(), 10U);
  EXPECT_LT(plan["kernels"].size(), 60U);
  EXPECT_GT(fates(plan)["kernel"], 80);
  EXPECT_GT(certainties(plan)["named"], 40);
  const Json time = json(torch({"time", zoo("unet_small"), "--seconds", "0.5", "--per-layer"}, inductor));
  EXPECT_GT(timedKernels(time), static_cast<int>(plan["kernels"].size()) * 3 / 4);
}

TEST_F(RealTorch, NodesAreTiedToThoseOfTheProgram) {
  const std::map<std::string, std::pair<int, int>> known{{"bert_tiny", {87, 91}}, {"tiny_resnet_dynbatch", {31, 31}}};
  for (const auto& [network, tied] : known) {
    SCOPED_TRACE(network);
    const Json plan = json(torch({"plan", zoo(network)}));
    const Json told = decisionOf(plan, "build.program_tied")["arguments"];
    EXPECT_GE(told["tied"].get<int>(), told["nodes"].get<int>() - (tied.second - tied.first)) << told.dump();
    EXPECT_GT(told["equal"].get<int>(), 0);
  }
}

TEST_F(RealTorch, TheProgramOfAnotherNetworkIsRefused) {
  const std::string other = (zooModel("unet_small")->parent_path() / "model.pt2").string();
  const std::string why = problem(torch({"plan", zoo("bert_tiny")}, {"--compiler-option", "program=" + other}));
  EXPECT_TRUE(has(why, "it is not the program of this network")) << why;
}

TEST_F(RealTorch, WhatIsNoProgramIsRefused) {
  std::filesystem::copy_file(zoo("bert_tiny"), m_folder / "model.onnx");
  m_folder.write("model.pt2", "no archive");
  const std::string why = problem(torch({"plan", m_folder / "model.onnx"}));
  EXPECT_TRUE(has(why, "cannot be read as a zip archive")) << why;
}

/// An exported program of the zoo, in a folder for caches of the test's own.
class RealImport : public RealTorch {
 protected:
  RealImport() { ::setenv("FUSESCOPE_CACHE", (m_folder / "cache").c_str(), 1); }
  static std::string program(std::string_view network) {
    return (zooModel(network)->parent_path() / "model.pt2").string();
  }
};

TEST_F(RealImport, EachProgramOfTheZooBecomesANetworkThatGivesWhatTorchGives) {
  std::int64_t nodes = 0, tied = 0;
  for (const char* network : {"bert_tiny", "unet_small", "llama_tiny", "diffusion_block", "tiny_resnet_dynbatch",
                              "squeezenet1_1", "long_double", "moe_dense"}) {
    SCOPED_TRACE(network);
    const Json made = json({"import", program(network)});
    EXPECT_EQ(made["is_new"], true);
    nodes += made["node_count"].get<std::int64_t>();
    tied += made["tied"].get<std::int64_t>();
    const Json run = json({"run", program(network), "--expect", arrays(network)});
    EXPECT_EQ(run["ok"], true) << run.dump();
    EXPECT_EQ(run["example_inputs"], true);
    EXPECT_EQ(json({"inspect", program(network)})["cannot_run"], Json::array());
    EXPECT_EQ(json({"run", program(network), "--compiler", "torch", "--expect", arrays(network)})["ok"], true);
  }
  EXPECT_GE(tied, nodes - 2) << "of " << nodes;
  EXPECT_GT(nodes, 700);
}

/// Torch runs what is exported with casts, as far from float32 as the plan is, and it reads as that plan again.
TEST_F(RealImport, WhatIsExportedWithCastsHasThePlansTypes) {
  const std::string narrow = m_folder / "narrow.pt2";
  for (const char* network : {"bert_tiny", "unet_small", "llama_tiny", "diffusion_block", "tiny_resnet_dynbatch",
                              "squeezenet1_1", "long_double", "moe_dense"}) {
    const Json imported = json({"import", program(network)});
    ASSERT_FALSE(imported.empty());
    for (const std::string type : {"f16", "bf16"}) {
      SCOPED_TRACE(network + (" in " + type));
      const std::vector<std::string> options{"--precision", type};
      const auto with = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), options.begin(), options.end());
        return arguments;
      };
      const ProcessResult made = fusescopeCommand(with({"export", program(network), "--to", "pt2", "-o", narrow}));
      ASSERT_EQ(made.status, 0) << made.err;
      const auto errorOf = [&](const std::vector<std::string>& arguments) {
        std::vector<std::string> asked = arguments;
        asked.push_back("--json");
        const Json run = Json::parse(fusescopeCommand(asked).out);  // status 1 where bf16 is beyond the usual tolerance
        double error = 0;
        for (const Json& output : run["outputs"])
          if (output["max_over_rms"].is_number()) error = std::max(error, output["max_over_rms"].get<double>());
        return error;
      };
      const double planned = errorOf(with({"run", program(network), "--expect", arrays(network)}));
      EXPECT_GT(json({"import", narrow})["node_count"], 0);
      const double torchs =
          errorOf({"run", narrow, "--compiler", "torch", "--inputs", arrays(network), "--expect", arrays(network)});
      EXPECT_GT(torchs, 1e-5) << "nothing was lowered";
      EXPECT_LT(torchs, 4 * planned) << "the plan: " << planned;
    }
  }
}

TEST_F(RealImport, ItsNodesAreTiedToTheProgramByThemselves) {
  json({"import", program("tiny_resnet_dynbatch")});
  const Json plan = json({"plan", program("tiny_resnet_dynbatch"), "--compiler", "torch"});
  const Json told = decisionOf(plan, "build.program_tied")["arguments"];
  EXPECT_EQ(told["tied"], told["nodes"]) << told.dump();
  EXPECT_EQ(certainties(plan).size(), 1U) << "all are named";
}

TEST_F(RealImport, ExtentsAreCalledAsTheUserAsks) {
  const std::string path = program("tiny_resnet_dynbatch");
  const Json made = json({"import", path, "--dim", "s77=batch"});
  EXPECT_EQ(made["symbols"], Json::array({Json{{"symbol", "s77"}, {"name", "batch"}, {"min", 1}, {"max", 32}}}));
  EXPECT_EQ(json({"inspect", path})["inputs"][0]["dims"][0], "batch");
  EXPECT_EQ(json({"run", path, "--expect", arrays("tiny_resnet_dynbatch")})["ok"], true);
  EXPECT_EQ(json({"import", path})["is_new"], true) << "without names it is another network";
  EXPECT_EQ(json({"inspect", path})["inputs"][0]["dims"][0], "s77");
  EXPECT_EQ(json({"import", path, "--dim", "s77=batch"})["is_new"], false);
  EXPECT_EQ(json({"inspect", path})["inputs"][0]["dims"][0], "batch") << "the one that was asked for last";
}

TEST_F(RealTorch, ACardThatIsNotThereIsRefused) {
  const ProcessResult result =
      fusescopeCommand(torch({"plan", zoo("long_double")}, {"--compiler-option", "device=cuda"}));
  if (result.status == 0) GTEST_SKIP() << "there is a card";
  EXPECT_TRUE(has(result.err, "torch finds no CUDA card here")) << result.err;
}

TEST_F(RealTorch, AJobGivesWhatALiveProbeGives) {
  const std::string job = m_folder / "job.pyz";
  const ProcessResult packed =
      fusescopeCommand(torch({"probe", "pack", zoo("long_double"), "-o", job, "--do", "plan,run,time,profile",
                              "--seconds", "0.1", "--inputs", arrays("long_double")}));
  ASSERT_EQ(packed.status, 0) << packed.err;
  ASSERT_EQ(runProcess({std::getenv("FUSESCOPE_TORCH_PYTHON"), job}).status, 0);
  const Json opened = json({"probe", "open", m_folder / "result.zip"});
  EXPECT_EQ(opened["failed"], Json::array());
  EXPECT_EQ(opened["plan"]["kernels"], json(torch({"plan", zoo("long_double")}))["kernels"]);
  EXPECT_GT(timedKernels(opened["time"]), 5);
}

/// What PyTorch makes of a program that we wrote inputs into, in its own words. `arguments`: the file, and the one that
/// it was written of, and where it is to be saved again.
constexpr const char* kOpensWritten = R"python(
import json, sys, zipfile
import torch

written, source, again = sys.argv[1:4]
extra = {"": ""}
program = torch.export.load(written, extra_files=extra)
before = torch.export.load(source)
arguments, keywords = before.example_inputs
torch.manual_seed(0)
expected = before.module()(*arguments, **keywords)
torch.manual_seed(0)
given = program.module()(*arguments, **keywords)
leaves = torch.utils._pytree.tree_leaves
for a, b in zip(leaves(expected), leaves(given), strict=True):
    if isinstance(a, torch.Tensor):
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)
custom = program.graph_module.meta["custom"]["fusescope.input_specs"]
notes = json.loads(extra["fusescope.json"])
assert notes["fusescope.input_specs"] == custom, notes
assert custom["version"] == 2
old, new = zipfile.ZipFile(source), zipfile.ZipFile(written)
for name in old.namelist():
    if not name.endswith("models/model.json"):
        assert old.read(name) == new.read(name), name
        assert old.getinfo(name).header_offset == new.getinfo(name).header_offset, name
assert new.testzip() is None
torch.export.save(program, again)
program.run_decompositions()
print("opened")
)python";

TEST_F(RealTorch, OpensTheProgramsThatWeWroteInputsInto) {
  const std::string python = std::getenv("FUSESCOPE_TORCH_PYTHON");
  for (const char* network : {"bert_tiny", "unet_small", "llama_tiny", "diffusion_block", "tiny_resnet_dynbatch",
                              "squeezenet1_1", "long_double", "moe_dense"}) {
    SCOPED_TRACE(network);
    const std::string source = (zooModel(network)->parent_path() / "model.pt2").string();
    const std::string written = (m_folder / (std::string(network) + ".pt2")).string(),
                      again = (m_folder / (std::string(network) + "_again.pt2")).string();
    const bool isOpen = network == std::string("tiny_resnet_dynbatch");
    std::vector<std::string> words{"inputs", source, "-o", written};
    if (isOpen) words.insert(words.end(), {"--set", "x=2..4..16,3,64,64"});
    const Json inputs = json(words);
    const ProcessResult opened = runProcess({python, "-c", kOpensWritten, written, source, again});
    EXPECT_EQ(opened.status, 0) << opened.err;
    EXPECT_TRUE(has(opened.out, "opened")) << opened.out << opened.err;
    // PyTorch dropped the extra file and kept the metadata.
    const Json kept = json({"inputs", again});
    EXPECT_EQ(kept["inputs"][0]["min"], inputs["inputs"][0]["min"]);
    EXPECT_EQ(kept["inputs"][0]["max"], inputs["inputs"][0]["max"]);
    if (!isOpen) continue;
    EXPECT_EQ(kept["inputs"][0]["source"], "metadata");
    EXPECT_EQ(kept["inputs"][0]["max"][0], 16);
  }
}

}  // namespace
}  // namespace fusescope::test
