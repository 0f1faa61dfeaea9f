// Torch-TensorRT itself, through every command. Skipped where FUSESCOPE_TORCH_TENSORRT_PYTHON names no Python that has
// it (scripts/test --torch sets it, with FUSESCOPE_TEST_TENSORRT_RTX=1).
#include <algorithm>

#include "tests/torch/torch_fixture.h"

namespace fusescope::test {
namespace {

class RealPartition : public Torch {
 protected:
  using Arguments = std::vector<std::string>;

  void SetUp() override {
    const char* python = std::getenv("FUSESCOPE_TORCH_TENSORRT_PYTHON");
    if (python == nullptr) GTEST_SKIP() << "no Python with Torch-TensorRT: FUSESCOPE_TORCH_TENSORRT_PYTHON is not set";
    FUSESCOPE_REQUIRE_SHARED();
    ::setenv("FUSESCOPE_PYTHON", python, 1);
    ::setenv("FUSESCOPE_CACHE", (m_folder / "cache").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("FUSESCOPE_PYTHON"); }

  static std::string python() { return std::getenv("FUSESCOPE_TORCH_TENSORRT_PYTHON"); }
  static std::string program(std::string_view network) {
    return (zooModel(network)->parent_path() / "model.pt2").string();
  }
  static Json planOf(const std::string& model, const Arguments& more = {}) {
    Arguments arguments{"plan", model, "--compiler", "torch-tensorrt"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json(arguments);
  }
  /// What upstream itself reports.
  static Json reportOf(const std::string& program) {
    const ProcessResult told =
        runProcess({"/usr/bin/env", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=" FUSESCOPE_SOURCE_DIR "/resources",
                    python(), TORCH_TESTS "/upstream_report.py", program});
    EXPECT_EQ(told.status, 0) << told.err;
    return Json::parse(told.out.substr(told.out.find('{')), nullptr, false);
  }
  /// What became of the plan, in the form of the report.
  static Json divided(const Json& plan) {
    const Json counts = decisionOf(plan, "build.program_divided")["arguments"];
    Json engines = Json::array();
    for (const Json& decision : plan["decisions"])
      if (decision["code"] == "build.engine_as_a_whole")
        engines.push_back(
            {{"name", decision["arguments"]["engine"]}, {"operators", decision["arguments"]["operators"]}});
    Json unsupported = Json::object();
    for (const Json& decision : plan["decisions"])
      for (const char* code : {"no_converter", "validator", "open_extents", "complex", "asked"})
        if (decision["code"] == std::string("build.torch_") + code) {
          Json& count = unsupported["torch.ops." + decision["arguments"]["operator"].get<std::string>()];
          count = count.is_null() ? 1 : count.get<int>() + 1;
        }
    return {{"total", counts["total"]},
            {"supported", counts["supported"]},
            {"engines", engines},
            {"unsupported", unsupported},
            {"in_torch", counts["in_torch"]}};
  }
};

/// What upstream reports of a program of the zoo.
struct Reported {
  const char* network;
  int supported, total;
  std::size_t engines;
};
class RealPartitionOf : public RealPartition, public ::testing::WithParamInterface<Reported> {};

TEST_P(RealPartitionOf, SegmentsAndCountsAreThoseOfUpstreamsReport) {
  const std::string path = program(GetParam().network);
  const Json report = reportOf(path);
  EXPECT_EQ(report["supported"], GetParam().supported);
  EXPECT_EQ(report["total"], GetParam().total);
  EXPECT_EQ(report["engines"].size(), GetParam().engines);
  json({"import", path});
  const Json plan = planOf(path);
  EXPECT_EQ(divided(plan), report);
  EXPECT_EQ(decisionOf(plan, "build.torch_unknown"), Json::object());
  EXPECT_EQ(certainties(plan).size(), 1U) << "all are named: the network was made of this program";
}

INSTANTIATE_TEST_SUITE_P(Zoo, RealPartitionOf,
                         ::testing::Values(Reported{"bert_tiny", 53, 53, 1}, Reported{"unet_small", 58, 58, 1},
                                           Reported{"llama_tiny", 119, 119, 1}, Reported{"diffusion_block", 87, 87, 1},
                                           Reported{"tiny_resnet_dynbatch", 57, 57, 1},
                                           Reported{"squeezenet1_1", 62, 65, 3}, Reported{"long_double", 12, 13, 2},
                                           Reported{"moe_dense", 134, 134, 1}),
                         [](const auto& each) { return std::string(each.param.network); });

/// Exports a program of which several operators have no converter, or one that refuses them.
constexpr const char* kExports = R"python(
import sys
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)

    def forward(self, x):
        x = torch.relu(self.a(x)) + torch.sigmoid(x) * 2
        y = torch.linalg.det(x)
        return torch.tanh(self.b(x)).softmax(-1) * 3 + y[:, None, None]

torch.manual_seed(0)
batch = torch.export.Dim("batch", min=1, max=8)
program = torch.export.export(Net().eval(), (torch.randn(2, 8, 8),), dynamic_shapes=({0: batch},))
torch.export.save(program, sys.argv[1])
)python";

TEST_F(RealPartition, AnOperatorWithoutAConverterIsNamed) {
  const std::string path = m_folder / "net.pt2";
  const ProcessResult exported = runProcess({python(), "-c", kExports, path});
  ASSERT_EQ(exported.status, 0) << exported.err;
  json({"import", path});
  const Json plan = planOf(path, {"--compiler-option", "min-block-size=1"});
  EXPECT_EQ(divided(plan)["total"], reportOf(path)["total"]);
  const Json det = decisionOf(plan, "build.torch_no_converter");
  ASSERT_FALSE(det.empty()) << plan["decisions"];
  EXPECT_TRUE(has(det["arguments"]["operator"], "det")) << det;
  EXPECT_FALSE(det["subjects"].empty());
}

TEST_F(RealPartition, OptionsChangeTheDivision) {
  json({"import", program("long_double")});
  EXPECT_EQ(divided(planOf(program("long_double"), {"--compiler-option", "min-block-size=7"}))["engines"],
            Json::array());
  const Json kept =
      planOf(program("long_double"), {"--compiler-option", "torch-executed-ops=torch.ops.aten.linear.default"});
  EXPECT_EQ(divided(kept)["supported"], 11);
  EXPECT_EQ(divided(kept)["unsupported"]["torch.ops.aten.linear.default"], 1);
  const std::string why = problem({"plan", program("long_double"), "--compiler", "torch-tensorrt", "--compiler-option",
                                   "torch-executed-ops=torch.ops.aten.linear"});
  EXPECT_TRUE(has(why, "The program has no operator torch.ops.aten.linear when")) << why;
  EXPECT_TRUE(has(why, "torch.ops.aten.linear.default")) << why;
}

/// What the real dry run does with doubles, with and without its option, beside our plan for the same target.
TEST_F(RealPartition, TruncationOfDoubleStandsBesideOurs) {
  json({"import", program("long_double")});
  const auto fateOf = [](const Json& plan, const std::string& value, const char* side) {
    for (const Json& each : plan["truncation_beside"]["values"])
      if (each["value"] == value) return each[side]["fate"].get<std::string>();
    return std::string("none");
  };
  const Json without = planOf(program("long_double"));
  EXPECT_EQ(fateOf(without, "d", "a"), "wide_in_engine");
  EXPECT_EQ(fateOf(without, "d", "b"), "stays_wide");
  EXPECT_FALSE(decisionOf(without, "build.engine_reads_double").empty());
  const Json with = planOf(program("long_double"), {"--compiler-option", "truncate-double=on", "--truncate", "double"});
  EXPECT_EQ(fateOf(with, "d", "a"), "cast_in_front");
  EXPECT_EQ(fateOf(with, "d", "b"), "cast_in_front");
  EXPECT_TRUE(decisionOf(with, "build.engine_reads_double").empty());
}

TEST_F(RealPartition, TheProgramOfAnotherNetworkIsRefused) {
  const std::string why = problem({"plan", zooModel("bert_tiny")->string(), "--compiler", "torch-tensorrt",
                                   "--compiler-option", "program=" + program("unet_small")});
  EXPECT_TRUE(has(why, "it is not the program of this network")) << why;
}

/// Beside what TensorRT for RTX makes of the network, in the same environment.
TEST_F(RealPartition, ItStandsBesideOthersInADifference) {
  const std::string model = zooModel("squeezenet1_1")->string();
  const Json diff =
      json({"diff", model, model, "--plan-a", "--compiler torch-tensorrt", "--plan-b", "--compiler tensorrt-rtx"});
  EXPECT_EQ(diff["a"]["compiler"], "torch-tensorrt 2.14.0");
  EXPECT_TRUE(std::ranges::any_of(diff["fusions"], [](const Json& change) {
    return change["change"] == "split" && change["a"][0]["name"] == "_run_on_acc_1" && change["b"].size() > 3;
  })) << diff["fusions"];
  std::map<std::string, int> refusals;
  for (const Json& change : diff["decisions"])
    if (!change["a"].is_null()) ++refusals[change["a"]["code"]];
  EXPECT_EQ(refusals,
            (std::map<std::string, int>{
                {"build.torch_compares_list", 3}, {"build.torch_small_block", 2}, {"build.torch_validator", 3}}));
}

}  // namespace
}  // namespace fusescope::test
