// Which formats and ways are chosen, on tables of costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/tactics/format_planner.h"

namespace fusescope::testing {
namespace {

constexpr std::size_t kForms = 3;

/// A network of random costs: each node reads up to three of the last values and makes one; the last reads what nobody
/// else does.
FormatProblem randomProblem(std::uint32_t seed, std::size_t nodes, std::size_t reach) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  FormatProblem problem{.values = nodes + 1, .givenForms = std::vector<std::size_t>(nodes + 1, 0)};
  for (std::size_t i = 0; i < nodes; ++i) {
    FormatProblem::Node node{.outputs = {i + 1}};
    const std::size_t inputs = 1 + below(3);
    for (std::size_t k = 0; k < inputs; ++k) node.inputs.push_back(i - below(std::min(i + 1, reach)));
    const std::size_t ways = 1 + below(4);
    for (std::size_t way = 0; way < ways; ++way) {
      FormatProblem::Way made{.ms = static_cast<double>(1 + below(20)), .writes = {below(kForms)}};
      for (std::size_t k = 0; k < inputs; ++k) made.reads.push_back(below(kForms));
      node.ways.push_back(std::move(made));
    }
    problem.nodes.push_back(std::move(node));
  }
  std::vector<double> table;
  for (std::size_t i = 0; i < problem.values * kForms * kForms; ++i) table.push_back(static_cast<double>(1 + below(9)));
  problem.conversionMs = [table](std::size_t value, std::size_t from, std::size_t to) {
    return table[(value * kForms + from) * kForms + to];
  };
  return problem;
}

FormatPlan bestOfAll(const FormatProblem& problem) {
  std::vector<std::size_t> ways(problem.nodes.size(), 0);
  FormatPlan best = priceFormats(problem, ways);
  while (true) {
    std::size_t at = 0;
    while (at < ways.size() && ++ways[at] == problem.nodes[at].ways.size()) ways[at++] = 0;
    if (at == ways.size()) return best;
    FormatPlan plan = priceFormats(problem, ways);
    if (plan.ms < best.ms) best = std::move(plan);
  }
}

TEST(FormatPlanner, FindsWhatTryingAllFinds) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const FormatProblem problem = randomProblem(seed, 6, 1 + seed % 5);
    const FormatPlan plan = planFormats(problem), best = bestOfAll(problem);
    EXPECT_TRUE(plan.isExact);
    EXPECT_DOUBLE_EQ(plan.ms, best.ms) << "seed " << seed;
    EXPECT_DOUBLE_EQ(priceFormats(problem, plan.ways).ms, plan.ms);
    EXPECT_EQ(planFormats(problem).ways, plan.ways) << "the same for the same costs";
  }
}

TEST(FormatPlanner, ABoundedSearchStaysNearTheBest) {
  double bounded = 0, exact = 0;
  std::size_t cut = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const FormatProblem problem = randomProblem(seed, 8, 8);
    const FormatPlan plan = planFormats(problem, 4), best = planFormats(problem);
    EXPECT_GE(plan.ms, best.ms - 1e-9) << "seed " << seed;
    EXPECT_DOUBLE_EQ(plan.ms, priceFormats(problem, plan.ways).ms);
    cut += plan.isExact ? 0U : 1U;
    bounded += plan.ms;
    exact += best.ms;
  }
  EXPECT_GT(cut, 50U) << "the bound took effect";
  EXPECT_LE(bounded, exact * 1.05);
}

/// `nodes` with the same ways: one for each form, reading and writing it, at these times.
FormatProblem uniform(std::vector<std::vector<std::size_t>> inputs, const std::vector<double>& ms, double conversion) {
  FormatProblem problem{.values = inputs.size() + 1, .givenForms = std::vector<std::size_t>(inputs.size() + 1, 0)};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    FormatProblem::Node node{.inputs = inputs[i], .outputs = {i + 1}};
    for (std::size_t form = 0; form < ms.size(); ++form)
      node.ways.push_back(
          {.ms = ms[form], .reads = std::vector<std::size_t>(inputs[i].size(), form), .writes = {form}});
    problem.nodes.push_back(std::move(node));
  }
  problem.conversionMs = [conversion](std::size_t, std::size_t, std::size_t) { return conversion; };
  return problem;
}

TEST(FormatPlanner, AChainIsNotChosenGreedily) {
  // Each node alone stays as it is delivered: no single gain of 1 pays a conversion of 5. All together do.
  std::vector<std::vector<std::size_t>> chain;
  for (std::size_t i = 0; i < 20; ++i) chain.push_back({i});
  const FormatPlan plan = planFormats(uniform(chain, {3, 2}, 5));
  EXPECT_EQ(plan.ways, std::vector<std::size_t>(20, 1));
  EXPECT_EQ(plan.conversions, 1U);
  chain.resize(4);
  EXPECT_EQ(planFormats(uniform(chain, {3, 2}, 5)).conversions, 0U) << "four gain less than one conversion costs";
}

TEST(FormatPlanner, DenseBlocksStayInOneFormat) {
  // Every node reads all before it, as in a densely connected block.
  std::vector<std::vector<std::size_t>> dense;
  for (std::size_t i = 0; i < 40; ++i) {
    dense.emplace_back();
    for (std::size_t k = 0; k <= i; ++k) dense.back().push_back(k);
  }
  const FormatPlan plan = planFormats(uniform(dense, {2, 1.5, 1.6, 1.7}, 0.3));
  EXPECT_EQ(plan.ways, std::vector<std::size_t>(40, 1));
  EXPECT_EQ(plan.conversions, 1U) << "of the input";
}

TEST(FormatPlanner, AConversionIsSharedByItsReaders) {
  // Two readers that save 3 each for one conversion of 4.
  FormatProblem problem{.values = 3, .givenForms = {0, 0, 0}};
  for (std::size_t i = 0; i < 2; ++i)
    problem.nodes.push_back({.inputs = {0},
                             .outputs = {i + 1},
                             .ways = {{.ms = 5, .reads = {0}, .writes = {0}}, {.ms = 2, .reads = {1}, .writes = {0}}}});
  problem.conversionMs = [](std::size_t, std::size_t, std::size_t) { return 4.0; };
  const FormatPlan plan = planFormats(problem);
  EXPECT_EQ(plan.ways, (std::vector<std::size_t>{1, 1}));
  EXPECT_DOUBLE_EQ(plan.ms, 8);
  EXPECT_EQ(plan.conversions, 1U);
}

TEST(FormatPlanner, ATieKeepsFewerConversionsThenTheFirst) {
  FormatProblem problem{.values = 2, .givenForms = {0, 0}};
  problem.nodes.push_back({.inputs = {0},
                           .outputs = {1},
                           .ways = {{.ms = 1, .reads = {1}, .writes = {0}},
                                    {.ms = 2, .reads = {0}, .writes = {0}},
                                    {.ms = 2, .reads = {0}, .writes = {0}}}});
  problem.conversionMs = [](std::size_t, std::size_t, std::size_t) { return 1.0; };
  const FormatPlan plan = planFormats(problem);
  EXPECT_EQ(plan.ways, std::vector<std::size_t>{1});
  EXPECT_EQ(plan.conversions, 0U);
}

/// The same with times that are off by up to `noise`, as a share, and the first way of each node preferred.
FormatProblem measuredOnceMore(FormatProblem problem, std::uint32_t seed, double noise) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> off(1, 1 + noise);
  for (FormatProblem::Node& node : problem.nodes)
    for (std::size_t way = 0; way < node.ways.size(); ++way) {
      node.ways[way].ms *= off(random);
      node.ways[way].place = way;
    }
  return problem;
}

/// Nodes in a chain whose ways take nearly the same, in one format.
FormatProblem nearTies(std::uint32_t seed, std::size_t nodes) {
  std::mt19937 random(seed);
  std::normal_distribution<double> logarithm(0, 0.012);
  FormatProblem problem{.values = nodes + 1, .givenForms = std::vector<std::size_t>(nodes + 1, 0)};
  for (std::size_t i = 0; i < nodes; ++i) {
    FormatProblem::Node node{.inputs = {i}, .outputs = {i + 1}};
    for (std::size_t way = 0; way < 3; ++way)
      node.ways.push_back({.ms = std::exp(logarithm(random)), .reads = {0}, .writes = {0}});
    problem.nodes.push_back(std::move(node));
  }
  problem.conversionMs = [](std::size_t, std::size_t, std::size_t) { return 1.0; };
  return problem;
}

double sharedBy(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i] ? 1U : 0U;
  return static_cast<double>(same) / static_cast<double>(a.size());
}

TEST(FormatPlanner, FirmChoicesAreTheSameForTimesThatAreOffALittle) {
  constexpr double kLoss = 0.02, kNoise = 0.02;
  double firm = 0, cheapest = 0;
  constexpr std::uint32_t kNetworks = 50;
  for (std::uint32_t seed = 0; seed < kNetworks; ++seed) {
    const FormatProblem problem = nearTies(seed, 60);
    const FormatProblem one = measuredOnceMore(problem, 2 * seed, kNoise),
                        other = measuredOnceMore(problem, 2 * seed + 1, kNoise);
    const FormatPlan chosen = planFormatsStably(one, kLoss);
    EXPECT_LE(chosen.ms, planFormats(one).ms * (1 + kLoss));
    EXPECT_DOUBLE_EQ(chosen.ms, priceFormats(one, chosen.ways).ms) << "what it takes, without any margin";
    EXPECT_EQ(planFormatsStably(one, kLoss).ways, chosen.ways) << "the same for the same times";
    firm += sharedBy(chosen.ways, planFormatsStably(other, kLoss).ways) / kNetworks;
    cheapest += sharedBy(planFormats(one).ways, planFormats(other).ways) / kNetworks;
  }
  EXPECT_GT(firm, 0.95);
  EXPECT_LT(1 - firm, (1 - cheapest) / 2) << "they disagree less than half as often as the cheapest";
}

TEST(FormatPlanner, FirmChoicesConvertOnlyForWhatGainsMuch) {
  // A chain of nodes that are faster by a hundredth in the other format, with two conversions at the first and last.
  std::vector<std::vector<std::size_t>> chain;
  for (std::size_t i = 0; i < 20; ++i) chain.push_back({i});
  const FormatProblem little = uniform(chain, {1, 0.985}, 0.1);
  EXPECT_EQ(planFormats(little).conversions, 1U);
  EXPECT_EQ(planFormatsStably(little, 0.02).conversions, 0U) << "what that loses is within the bound";
  const FormatProblem much = uniform(chain, {1, 0.9}, 0.1);
  EXPECT_EQ(planFormatsStably(much, 0.02).ways, planFormats(much).ways);
  EXPECT_EQ(planFormatsStably(uniform({{0}}, {1}, 0.1), 0.02).ways, std::vector<std::size_t>{0}) << "nothing to choose";
}

/// Blocks as in a densely connected network, of a product and a join each, in two formats: products are faster in the
/// one that is guessed, joins are in the other, and in sum the two are some percent apart.
FormatProblem balancedBlocks(std::uint32_t seed, double noise, double joinInOther) {
  std::mt19937 random(seed);
  std::normal_distribution<double> logarithm(0, noise);
  constexpr std::size_t kBlocks = 60, kNodes = 2 * kBlocks;
  FormatProblem problem{.values = kNodes + 1, .givenForms = std::vector<std::size_t>(kNodes + 1, 0)};
  const auto ways = [&](double guessed, double other, std::size_t place) {
    std::vector<FormatProblem::Way> made;
    made.push_back({.ms = guessed * std::exp(logarithm(random)), .reads = {0}, .writes = {0}, .format = 0});
    made.push_back(
        {.ms = other * std::exp(logarithm(random)), .place = place, .reads = {1}, .writes = {1}, .format = 1});
    return made;
  };
  for (std::size_t i = 0; i < kNodes; i += 2) {
    problem.nodes.push_back({.inputs = {i}, .outputs = {i + 1}, .ways = ways(0.6, 0.67, 1)});
    problem.nodes.push_back({.inputs = {i + 1}, .outputs = {i + 2}, .ways = ways(0.12, joinInOther, 0)});
  }
  problem.conversionMs = [](std::size_t, std::size_t, std::size_t) { return 0.05; };
  return problem;
}

TEST(FormatPlanner, FirmChoicesKeepToOneFormatWhereFormatsAreNearlyEqual) {
  constexpr double kLoss = 0.08;
  for (const double joinInOther : {0.02, 0.05, 0.10}) {
    const auto chosen = planFormatsStably(balancedBlocks(0, 0.05, joinInOther), kLoss).ways;
    for (std::uint32_t seed = 1; seed < 20; ++seed) {
      const FormatProblem again = balancedBlocks(seed, 0.05, joinInOther);
      const FormatPlan plan = planFormatsStably(again, kLoss);
      EXPECT_GE(sharedBy(plan.ways, chosen), 0.98) << "joins take " << joinInOther << ", seed " << seed;
      EXPECT_LE(plan.ms, planFormats(again).ms * (1 + kLoss));
    }
  }
}

}  // namespace
}  // namespace fusescope::testing
