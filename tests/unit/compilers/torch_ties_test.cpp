// How nodes of one graph of torch are found again in another, and what is read of a profile.
#include <gtest/gtest.h>

#include "compilers/torch/node_ties.h"
#include "compilers/torch/program_facts.h"
#include "compilers/torch/torch_profile.h"
#include "ir/graph.h"

namespace fusescope::torch_compiler {
namespace {

using Ties = std::vector<std::optional<Tie>>;

NodeOrigin node(std::string name, std::string target, std::string trace = "line 1", std::string module = "m") {
  return {std::move(name), "aten." + target, std::move(module), std::move(trace)};
}

/// "0 named, -, 2 guessed".
std::string words(const Ties& ties) {
  std::string text;
  for (const auto& tie : ties) {
    if (!text.empty()) text += ", ";
    text += tie ? std::to_string(tie->node) + " " + std::string(name(tie->certainty)) : "-";
  }
  return text;
}

std::string tied(const std::vector<NodeOrigin>& nodes, const std::vector<NodeOrigin>& all) {
  return words(tiesOf(nodes, all));
}

TEST(TorchTies, ANodeOfTheSameNameOperatorAndLinesIsNamed) {
  const std::vector<NodeOrigin> all{node("linear", "linear.default"), node("gelu", "gelu.default", "line 2")};
  EXPECT_EQ(tied({node("gelu", "gelu.default", "line 2"), node("gelu", "gelu.default", "line 2"),
                  node("linear", "linear.default")},
                 all),
            "1 named, 1 named, 0 named");
}

TEST(TorchTies, ANameThatMovedToAnotherNodeTiesNothing) {
  const std::vector<NodeOrigin> all{node("view", "view.default", "line 1"), node("view_1", "view.default", "line 2")};
  EXPECT_EQ(tied({node("view", "view.default", "line 2")}, all), "1 derived") << "the only one of its lines";
  EXPECT_EQ(tied({node("view", "reshape.default", "line 9")}, all), "-");
}

TEST(TorchTies, TheSameNumberOfOneOperatorFromOneLineIsInOrder) {
  const std::vector<NodeOrigin> all{node("add", "add.Tensor"), node("add_1", "add.Tensor")};
  EXPECT_EQ(tied({node("add_40", "add.Tensor"), node("add_76", "add.Tensor"), node("add_40", "add.Tensor")}, all),
            "0 derived, 1 derived, 0 derived");
  EXPECT_EQ(tied({node("add_40", "add.Tensor"), node("add_76", "add.Tensor"), node("add_80", "add.Tensor")}, all),
            "-, -, -")
      << "three of two";
}

TEST(TorchTies, AnOperatorThatWritesIntoItsInputIsTheSame) {
  EXPECT_EQ(tied({node("relu", "relu.default"), node("relu_1", "relu.default")},
                 {node("relu_", "relu_.default"), node("relu__1", "relu_.default")}),
            "0 derived, 1 derived");
}

TEST(TorchTies, OtherOperatorsOfOneLineAreGuessedInOrder) {
  EXPECT_EQ(tied({node("a", "bitwise_and.Tensor"), node("b", "_to_copy.default")},
                 {node("x", "__and__.Tensor"), node("y", "to.dtype")}),
            "0 guessed, 1 guessed");
  EXPECT_EQ(tied({node("bn", "_native_batch_norm_legit_no_training.default")}, {node("x", "batch_norm.default")}),
            "0 derived")
      << "nothing else comes from there";
}

TEST(TorchTies, ChecksAndNodesWithoutLinesTieNothing) {
  EXPECT_EQ(tied({node("a", "add.Tensor")}, {node("check", "_assert_tensor_metadata.default")}), "-");
  EXPECT_EQ(tied({node("", "add.Tensor"), node("a", "add.Tensor", "")}, {node("b", "add.Tensor", "")}), "-, -");
}

TEST(TorchFacts, KernelsAreInTheOrderOfTheirCallsWithOriginsOnce) {
  const auto graphs = inductorGraphs(R"({"graphs": [{
      "kernels": {"extern_kernels.addmm:12": ["addmm"], "triton_poi_fused_add_0:2": ["add", "mul", "gone"]},
      "origins": {"addmm": ["linear"], "add": ["sum"], "mul": ["sum", "scale"]}}],
    "nodes": [[{"name": "sum", "target": "aten.add.Tensor", "module": "", "trace": "line 1"}]]})");
  ASSERT_TRUE(graphs.ok()) << graphs.error().text();
  ASSERT_EQ(graphs.value().size(), 1U);
  const InductorGraph& graph = graphs.value().front();
  ASSERT_EQ(graph.kernels.size(), 2U);
  EXPECT_EQ(graph.kernels[0].name, "triton_poi_fused_add_0:2");
  EXPECT_EQ(graph.kernels[0].origins, (std::vector<std::string>{"scale", "sum"}));
  EXPECT_EQ(graph.kernels[1].name, "extern_kernels.addmm:12");
  EXPECT_EQ(graph.nodes.front().target, "aten.add.Tensor");
  const auto calls = inductorKernelsOf({{"a:b:7", {}}, {"addmm", {}}, {"c:10", {}}}, {});
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].name, "addmm") << "it has no number";
  EXPECT_EQ(calls[1].name, "a:b:7");
}

TEST(TorchFacts, WhatIsNoAnswerIsAnError) {
  for (const char* text : {"", "[]", "{}", R"({"nodes": 1, "weights": []})", R"({"nodes": [{}], "weights": []})",
                           R"({"nodes": [], "weights": [{"name": 1}]})"})
    EXPECT_FALSE(programFacts(text).ok()) << text;
  for (const char* text :
       {"", "[]", R"({"graphs": [{}]})", R"({"graphs": [{"kernels": {"a": 1}}]})", R"({"graphs": [], "nodes": [1]})"})
    EXPECT_FALSE(inductorGraphs(text).ok()) << text;
  for (const char* text :
       {"", "{}", R"({"names": ["a"], "events": [[0, 1, 2, 3, 0, 0]]})",
        R"({"names": ["a"], "events": [[0, 0, "x", 3, 0, 0]]})", R"({"names": ["a"], "events": [[0, 0, 1, -3, 0, 0]]})",
        R"({"names": ["a"], "events": [[0]]})"})
    EXPECT_FALSE(kernelTimes(text).ok()) << text;
}

/// Runs of a profile: the first does not count, and the medians are of the others.
std::string profileOf(const std::vector<std::string>& events, const std::string& kernels = "") {
  std::string text =
      R"({"names": ["user_annotation", "fusescope.run", "cpu_op", "fusescope.node:a", "aten::mul", "aten::add", "main",
                    "cuda_runtime", "cudaLaunchKernel", "kernel", "triton_poi_fused_0", "aten::addmm",
                    "graph_0_cpp_fused_0", "sgemm", "gpu_memcpy"], "events": [)";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i > 0 ? "," : "") + events[i];
  return text + "]" + (kernels.empty() ? "" : ", \"kernels\": " + kernels) + "}";
}
std::string event(int category, int called, double begin, double duration, int correlation = 0) {
  return "[" + std::to_string(category) + "," + std::to_string(called) + "," + std::to_string(begin) + "," +
         std::to_string(duration) + ",6," + std::to_string(correlation) + "]";
}

std::map<std::string, double> timesOf(const std::string& text) {
  const auto times = kernelTimes(text);
  EXPECT_TRUE(times.ok()) << times.error().text();
  return times.ok() ? times.value() : std::map<std::string, double>();
}

TEST(TorchProfile, ANodeTakesWhatItsOperatorsTake) {
  std::vector<std::string> events;
  for (int run = 0; run < 4; ++run) {
    const double at = 1000.0 * run;
    events.push_back(event(0, 1, at, 900));
    events.push_back(event(0, 3, at + 10, 500));
    events.push_back(event(2, 4, at + 20, 100 * (run + 1)));
    events.push_back(event(2, 5, at + 450, 50));
  }
  EXPECT_EQ(timesOf(profileOf(events)), (std::map<std::string, double>{{"a", 0.35}}));
}

TEST(TorchProfile, OnACardANodeTakesWhatItLaunched) {
  std::vector<std::string> events;
  for (int run = 0; run < 3; ++run) {
    const double at = 1000.0 * run;
    events.push_back(event(0, 1, at, 900));
    events.push_back(event(0, 3, at + 10, 100));
    events.push_back(event(2, 4, at + 20, 80));
    events.push_back(event(7, 8, at + 30, 5, 10 * run + 1));
    events.push_back(event(7, 8, at + 40, 5, 10 * run + 2));
    events.push_back(event(9, 13, at + 600, 7, 10 * run + 1));
    events.push_back(event(14, 13, at + 700, 2, 10 * run + 2));
  }
  EXPECT_EQ(timesOf(profileOf(events)), (std::map<std::string, double>{{"a", 0.009}}));
}

TEST(TorchProfile, CallsOfOneNameAreInOrder) {
  std::vector<std::string> events;
  for (int run = 0; run < 2; ++run) {
    const double at = 1000.0 * run;
    events.push_back(event(0, 1, at, 900));
    events.push_back(event(2, 12, at + 10, 20));
    events.push_back(event(2, 11, at + 40, 100));
    events.push_back(event(2, 5, at + 50, 10));
    events.push_back(event(2, 11, at + 150, 200));
  }
  EXPECT_EQ(timesOf(profileOf(events, R"(["cpp_fused_0:1", "extern_kernels.addmm:2", "extern_kernels.addmm:3"])")),
            (std::map<std::string, double>{
                {"cpp_fused_0:1", 0.02}, {"extern_kernels.addmm:2", 0.1}, {"extern_kernels.addmm:3", 0.2}}));
  EXPECT_TRUE(timesOf(profileOf(events, R"(["extern_kernels.addmm:2"])")).empty()) << "whose call is it?";
}

TEST(TorchProfile, OwnKernelsHaveTheirNamesOnTheCard) {
  std::vector<std::string> events;
  for (int run = 0; run < 2; ++run) {
    const double at = 1000.0 * run;
    events.push_back(event(0, 1, at, 900));
    events.push_back(event(7, 8, at + 30, 5, 10 * run + 1));
    events.push_back(event(2, 11, at + 40, 20));
    events.push_back(event(7, 8, at + 45, 5, 10 * run + 2));
    events.push_back(event(9, 10, at + 600, 7, 10 * run + 1));
    events.push_back(event(9, 13, at + 700, 3, 10 * run + 2));
  }
  EXPECT_EQ(
      timesOf(profileOf(events, R"(["triton_poi_fused_0:1", "torch.ops.aten.addmm.default:2"])")),
      (std::map<std::string, double>{{"triton_poi_fused_0:1", 0.007}, {"torch.ops.aten.addmm.default:2", 0.003}}));
}

}  // namespace
}  // namespace fusescope::torch_compiler
