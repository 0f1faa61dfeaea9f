#include "analysis/min_cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>

namespace fusescope {
namespace {

struct Problem {
  std::vector<std::array<double, 2>> costs;
  std::vector<std::tuple<std::size_t, std::size_t, double>> pairs;

  double of(const std::vector<char>& labels) const {
    double sum = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) sum += costs[i][static_cast<std::size_t>(labels[i])];
    for (const auto& [first, second, cost] : pairs)
      if (!labels[first] && labels[second]) sum += cost;
    return sum;
  }

  std::vector<char> solve() const {
    MinCut cut;
    for (const auto& [zero, one] : costs) cut.addCosts(cut.add(), zero, one);
    for (const auto& [first, second, cost] : pairs) cut.addCost(first, second, cost);
    return cut.solve();
  }

  double least() const {
    double best = std::numeric_limits<double>::infinity();
    for (unsigned bits = 0; bits < (1U << costs.size()); ++bits) {
      std::vector<char> labels;
      for (std::size_t i = 0; i < costs.size(); ++i) labels.push_back(static_cast<char>((bits >> i) & 1U));
      best = std::min(best, of(labels));
    }
    return best;
  }
};

TEST(MinCut, IsAsGoodAsTryingEverything) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> cost(0, 10);
  for (int round = 0; round < 300; ++round) {
    Problem problem;
    const std::size_t count = 1 + random() % 9;
    for (std::size_t i = 0; i < count; ++i) problem.costs.push_back({cost(random), cost(random)});
    for (std::size_t i = 0; count > 1 && i < 2 * count; ++i) {
      const std::size_t first = random() % count, second = random() % count;
      if (first != second) problem.pairs.emplace_back(first, second, cost(random));
    }
    EXPECT_NEAR(problem.of(problem.solve()), problem.least(), 1e-9) << "round " << round;
  }
}

TEST(MinCut, InfiniteCostsForbid) {
  const double never = std::numeric_limits<double>::infinity();
  const Problem problem{.costs = {{0, never}, {5, 0}, {never, 0}}, .pairs = {{0, 1, never}}};
  EXPECT_EQ(problem.solve(), (std::vector<char>{0, 0, 1}));
}

}  // namespace
}  // namespace fusescope
