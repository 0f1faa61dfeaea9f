// Which regions are measured because their formats save conversions, on tables of costs.
#include "engine/tactics/worth_measuring.h"

#include <gtest/gtest.h>

#include <set>

namespace fusescope::testing {
namespace {

constexpr std::size_t kBlocks = 0, kChannels = 1;  // two formats

FormatProblem::Way wayIn(std::size_t read, std::size_t written, double ms = 0.01) {
  return {.ms = ms, .reads = {read}, .writes = {written}, .format = written};
}

/// The beginning of mobilenet_v2: blocks come out of a kernel, channels are read three kernels later, and the two
/// kernels between were measured in channels only. The last tensor between them is small.
class FormatsOfAChain : public ::testing::Test {
 protected:
  FormatsOfAChain() {
    FormatProblem& problem = m_partly.problem;
    problem.values = 5;
    problem.givenForms.assign(5, kBlocks);
    for (std::size_t i = 0; i < 4; ++i) problem.nodes.push_back({.inputs = {i}, .outputs = {i + 1}, .ways = {}});
    problem.nodes[0].ways = {wayIn(kBlocks, kBlocks)};
    problem.nodes[1].ways = problem.nodes[2].ways = {wayIn(kChannels, kChannels), wayIn(kBlocks, kBlocks)};
    problem.nodes[3].ways = {wayIn(kChannels, kChannels)};
    m_partly.isAssumed = {{false}, {false, true}, {false, true}, {false}};
    problem.conversionMs = [this](std::size_t value, std::size_t, std::size_t) {
      m_measured.insert(value);
      return m_conversions[value];
    };
    m_partly.leastConversionMs = [this](std::size_t value, std::size_t, std::size_t) {
      return m_measured.contains(value) ? m_conversions[value] : m_conversions[value] / 10;
    };
  }
  PartlyMeasuredProblem m_partly;
  std::vector<double> m_conversions{0.5, 0.07, 0.07, 0.003, 0.5};
  std::set<std::size_t> m_measured;
};

TEST_F(FormatsOfAChain, KernelsThatSaveAConversionTogetherAreWorthMeasuring) {
  const WorthMeasuring worth = worthMeasuring(m_partly);
  EXPECT_EQ(worth.nodes, (std::vector<std::size_t>{1, 2})) << "either alone saves nothing";
  EXPECT_NEAR(worth.savedMs, 0.067, 1e-9);
  EXPECT_NEAR(worth.ms, 0.11, 1e-9);
  EXPECT_FALSE(m_measured.contains(0) || m_measured.contains(4)) << "no choice converts these";
}

TEST_F(FormatsOfAChain, AConversionWhosePriceIsFarTooLowIsMeasuredFirst) {
  for (const std::size_t node : {1, 2}) m_partly.problem.nodes[node].ways[1].ms = 0.02;
  m_partly.leastConversionMs = [this](std::size_t value, std::size_t, std::size_t) {
    return m_measured.contains(value) ? m_conversions[value] : m_conversions[value] / 1000;
  };
  const WorthMeasuring worth = worthMeasuring(m_partly);
  EXPECT_EQ(worth.nodes, (std::vector<std::size_t>{1, 2}));
  EXPECT_NEAR(worth.savedMs, 0.047, 1e-9);
}

TEST_F(FormatsOfAChain, NothingIsWorthMeasuringIfNoConversionIsSaved) {
  m_conversions[3] = 0.07;
  EXPECT_TRUE(worthMeasuring(m_partly).nodes.empty());
  m_conversions[3] = 0.003;
  m_partly.problem.nodes[0].ways = {wayIn(kBlocks, kChannels)};
  m_measured.clear();
  EXPECT_TRUE(worthMeasuring(m_partly).nodes.empty());
  EXPECT_TRUE(m_measured.empty()) << "then no conversion has to be measured";
}

TEST_F(FormatsOfAChain, AMeasuredWayIsNotHopedFor) {
  m_partly.problem.nodes[1].ways[1].ms = 0.2;
  m_partly.isAssumed[1][1] = false;
  EXPECT_TRUE(worthMeasuring(m_partly).nodes.empty()) << "the kernel in blocks is much slower, as was measured";
}

}  // namespace
}  // namespace fusescope::testing
