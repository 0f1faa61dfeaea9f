// Which of several wrong tensors is named: the first from which a way of wrong ones leads to an output.
#include <gtest/gtest.h>

#include <limits>

#include "ir/graph.h"
#include "session/documents/layer_error_report.h"
#include "session/open_artifact.h"
#include "tests/support/paths.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

/// m = c·c, s = x + m, t = Softmax (s), y = -t, each in memory and made by the node of its name.
class FirstWrongTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const TemporaryFolder folder;
    PlanOptions options{.target = "cpu"};
    for (const char* node : {"M", "S", "T"}) options.directives.push_back(splitDirective(node));
    assignIds(options.directives);
    const auto artifact = openArtifact(
        folder.write("model.onnx", onnxBytes("g (float[2, 8] x, float[2, 8] c) => (float[2, 8] y) { [M] m = Mul (c, c) "
                                             "[S] s = Add (x, m) [T] t = Softmax (s) [Y] y = Neg (t) }")),
        {}, options);
    ASSERT_TRUE(artifact.ok()) << artifact.error().text();
    m_plan = artifact.value().plan;
  }
  std::optional<FirstWrong> first(const std::vector<TensorErrors>& tensors, double allowed = 0.01) const {
    const Tolerance tolerance{.rms = allowed};
    return firstWrongOf(tensors, leadingToOutputs(tensors, m_plan->graph(), tolerance), tolerance);
  }

  const TensorError m_small{.elements = 1, .maxOverRms = 0.004}, m_large{.elements = 1, .maxOverRms = 0.02};
  const TensorError m_infinite{.elements = 1, .maxOverRms = std::numeric_limits<double>::infinity(), .nonFinite = 0.5};

 private:
  std::shared_ptr<const Plan> m_plan;
};

TEST_F(FirstWrongTest, ErrorsThatOnlyAddUpAreSaidToDoSo) {
  const std::vector<TensorErrors> tensors = {{.name = "t", .fusedNode = "T", .errors = {m_small, m_small}},
                                             {.name = "y", .fusedNode = "Y", .errors = {m_small, m_large}}};
  const auto found = first(tensors);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->tensor, "y");
  EXPECT_FALSE(found->isLocal);
  EXPECT_NE(found->why.find("add up"), std::string::npos);
  EXPECT_FALSE(first(tensors, 0.1).has_value());
}

TEST_F(FirstWrongTest, TheLargestOfErrorsThatAddUpIsSaidByWhatItIsJudgedBy) {
  const TensorError ofCodes{.elements = 1, .maxOverRms = 0.07, .relL2 = 0.002, .codes = true};
  const auto found = first({{.name = "t", .fusedNode = "T", .errors = {ofCodes, ofCodes}},
                            {.name = "y", .fusedNode = "Y", .errors = {m_small, m_large}}});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->tensor, "y");
  EXPECT_NE(found->why.find("the largest is 0.004 of rms, at y"), std::string::npos) << found->why;
}

TEST_F(FirstWrongTest, WhatHarmsNoReaderIsNotTheCulprit) {
  // A mask that is infinite in place of very large hides the same scores.
  const std::vector<TensorErrors> mask = {{.name = "m", .fusedNode = "M", .errors = {m_infinite, m_infinite}},
                                          {.name = "s", .fusedNode = "S", .errors = {m_infinite, m_infinite}},
                                          {.name = "t", .fusedNode = "T", .errors = {m_small, m_small}}};
  auto culprit = mask, sum = mask;
  culprit.push_back({.name = "y", .fusedNode = "Y", .errors = {m_large, m_large}});
  sum.push_back({.name = "y", .fusedNode = "Y", .errors = {m_small, m_large}});
  ASSERT_TRUE(first(culprit) && first(sum));
  EXPECT_EQ(first(culprit)->tensor, "y");
  EXPECT_TRUE(first(culprit)->isLocal);
  EXPECT_EQ(first(sum)->tensor, "y");
  EXPECT_FALSE(first(sum)->isLocal);
  EXPECT_NE(first(sum)->why.find("the largest is 0.004 of rms, at t"), std::string::npos) << first(sum)->why;
}

TEST_F(FirstWrongTest, WhereEveryOutputIsRightItIsSaid) {
  const auto found = first({{.name = "m", .fusedNode = "M", .errors = {m_infinite, m_infinite}},
                            {.name = "s", .fusedNode = "S", .errors = {m_small, m_small}},
                            {.name = "y", .fusedNode = "Y", .errors = {m_small, m_small}}});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->tensor, "m");
  EXPECT_NE(found->why.find("no output of the network is wrong because of it"), std::string::npos) << found->why;
}

TEST_F(FirstWrongTest, AWayLeadsOverWhatWasNotMeasured) {
  const auto found = first({{.name = "m", .fusedNode = "M", .errors = {m_infinite, m_infinite}},
                            {.name = "y", .fusedNode = "Y", .errors = {m_small, m_large}}});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->tensor, "m");
}

}  // namespace
}  // namespace fusescope::test
