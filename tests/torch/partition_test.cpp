// How a division of an exported program is read, and what of it is told: answers that were made by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "compilers/torch_tensorrt/partition_read_back.h"
#include "tests/torch/handed_sample.h"

namespace fusescope::test {
namespace {

using torch_tensorrt::AskedPartition;
using torch_tensorrt::partitionReadBack;
using torch_tensorrt::programPartition;

/// A division of a program of two nodes, "first" and "second", which are nodes of long_double.
class Partition : public ::testing::Test {
 protected:
  void SetUp() override {
    m_network = handedSample("long_double");
    ASSERT_TRUE(m_network);
    for (const auto& [name, node] : {std::pair{"first", "node_add"}, std::pair{"second", "node_remainder"}}) {
      m_program.nodes.push_back({.origin = {.name = name}, .within = {}});
      m_tied.nodes.push_back({{*graph().findNode(node), Certainty::Named}});
    }
  }
  const Graph& graph() const { return m_network->plan->graph(); }

  /// What is read of blocks, which are JSON.
  std::shared_ptr<const ReadBackPlan> made(const std::string& blocks, const std::string& gone = "{}") const {
    const auto partition =
        programPartition(R"({"total": 2, "supported": 1, "blocks": [)" + blocks + R"(], "gone": )" + gone + "}");
    EXPECT_TRUE(partition.ok()) << partition.error().text();
    auto plan = readBackPlan(m_network->plan, partitionReadBack(*m_network, m_program, m_tied, partition.value(),
                                                                {.leastOperators = 5, .truncatesDouble = false}));
    EXPECT_TRUE(plan.ok()) << plan.error().text();
    return plan.ok() ? plan.value() : nullptr;
  }
  /// The codes of what the compiler decided of the first node, where it stays in torch for `cause`.
  std::string why(const std::string& cause) const {
    const auto plan = made(inTorch(R"({"name": "add", "target": "aten.add.Tensor", "from": "first", "types": ["int64"],
                                      "reads": ["int64"], "is_view": false, "cause": )" +
                                   cause + "}"));
    std::string codes;
    for (const Decision& decision : plan->decisions)
      if (decision.kind == DecisionKind::Build && !decision.subjects.empty() && !decision.allowed)
        codes += (codes.empty() ? "" : ", ") + decision.code + " of " + decision.subjects.front().text();
    return codes;
  }
  static std::string inTorch(const std::string& operators) {
    return R"({"name": "_run_on_gpu_0", "is_engine": false, "inputs": [], "operators": [)" + operators + "]}";
  }
  static std::string problem(const std::string& text) {
    const auto partition = programPartition(text);
    return partition.ok() ? "" : partition.error().text();
  }

  std::optional<CompilerInput> m_network;
  torch_compiler::ProgramFacts m_program;
  torch_compiler::ProgramNetwork m_tied;
};

TEST_F(Partition, EachCauseHasADecisionOfItsOwn) {
  EXPECT_EQ(why(R"({"why": "no_converter"})"), "build.torch_no_converter of node_add");
  EXPECT_EQ(why(R"({"why": "validator", "validators": ["v"], "words": []})"), "build.torch_validator of node_add");
  EXPECT_EQ(why(R"({"why": "open_extents"})"), "build.torch_open_extents of node_add");
  EXPECT_EQ(why(R"({"why": "complex"})"), "build.torch_complex of node_add");
  EXPECT_EQ(why(R"({"why": "asked"})"), "build.torch_asked of node_add");
  EXPECT_EQ(why(R"({"why": "small_block", "operators": 1})"), "build.torch_small_block of node_add");
  EXPECT_EQ(why(R"({"why": "unknown"})"), "build.torch_unknown of node_add");
  EXPECT_EQ(why(R"({"why": "validator", "validators": ["v"], "dilation": [1, 1], "else_taken": true})"),
            "build.torch_validator of node_add, build.torch_compares_list of node_add");
}

TEST_F(Partition, WhatIsOnlySeenIsAViewAndWhatIsGoneHasItsFate) {
  const std::string view = inTorch(R"({"name": "getitem", "target": "getitem", "from": "first", "is_view": true})");
  const auto plan = made(view, R"({"second": "folded"})");
  EXPECT_EQ(plan->fateOf(*graph().findNode("node_add")), Fate::View);
  EXPECT_EQ(plan->fateOf(*graph().findNode("node_remainder")), Fate::Folded);
  EXPECT_EQ(plan->fateOf(*graph().findNode("node_sub")), Fate::NotDisclosed);
  EXPECT_EQ(made(view, R"({"second": "removed"})")->fateOf(*graph().findNode("node_remainder")), Fate::Removed);
}

/// As upstream counts: what is taken out of a tuple is no operator that stays in torch.
TEST_F(Partition, WhatIsTakenOutOfSeveralTensorsIsNotCounted) {
  const auto plan = made(inTorch(R"({"name": "topk", "target": "aten.topk.default", "from": "first"},
      {"name": "getitem", "target": "getitem", "from": "second", "is_view": true})"));
  const auto divided = std::ranges::find(plan->decisions, "build.program_divided", &Decision::code);
  ASSERT_NE(divided, plan->decisions.end());
  EXPECT_EQ(divided->arguments["in_torch"], 1);
}

TEST_F(Partition, OperatorsThatAreLostLeaveTheirEngineWithoutNodes) {
  const auto plan = made(R"({"name": "_run_on_acc_0", "is_engine": true, "inputs": [{"from": "nothing", "type": "f64",
      "is_cast": true}], "operators": [{"name": "a", "target": "aten.add.Tensor", "from": ""},
      {"name": "b", "target": "aten.add.Tensor", "from": "elsewhere", "types": ["f64"]}]})");
  ASSERT_EQ(plan->fusedNodes.size(), 1U);
  EXPECT_TRUE(plan->fusedNodes[0].nodes.empty());
  ASSERT_EQ(plan->conversions.size(), 1U);
  EXPECT_FALSE(plan->conversions[0].value.valid());
}

TEST_F(Partition, AnswersThatAreNoneAreRefused) {
  EXPECT_NE(problem("no JSON").find("is not JSON"), std::string::npos);
  EXPECT_NE(problem("[]"), "");
  EXPECT_NE(problem(R"({"total": 1, "supported": 1})"), "");
  EXPECT_NE(problem(R"({"total": 1, "supported": 1, "blocks": [{"is_engine": true}]})"), "");
  EXPECT_NE(problem(R"({"total": 1, "supported": 1, "blocks": [)" +
                    inTorch(R"({"name": "a", "target": "b", "cause": {"why": "tired"}})") + "]}"),
            "");
}

}  // namespace
}  // namespace fusescope::test
