// What is made of the times of runs, steps and layers.
#include "engine/latency.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "engine/run_statistics.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

std::vector<double> timesOf(const std::vector<double>& runs) {
  std::vector<double> times;
  for (const std::size_t run : middleRuns(runs)) times.push_back(runs[run]);
  std::ranges::sort(times);
  return times;
}

TEST(Latency, TheMiddleRunsAreTheHalfAroundTheMedian) {
  EXPECT_EQ(timesOf({7}), (std::vector<double>{7}));
  EXPECT_EQ(timesOf({7, 1}), (std::vector<double>{1, 7}));
  EXPECT_EQ(timesOf({9, 1, 5}), (std::vector<double>{5}));
  EXPECT_EQ(timesOf({100, 3, 1, 4}), (std::vector<double>{3, 4}));
  EXPECT_EQ(timesOf({8, 100, 1, 2, 3, 7, 6, 5}), (std::vector<double>{3, 5, 6, 7}));
}

TEST(Latency, LayersOfTheMiddleRunsAddUpWhereMediansDoNot) {
  // In each run another of three layers is disturbed: no median of a layer knows of it, every run does.
  const std::vector<std::vector<double>> layers{{4, 1, 1, 4, 1, 1}, {1, 4, 1, 1, 4, 1}, {1, 1, 4, 1, 1, 4}};
  std::vector<double> runs(6);
  for (const auto& layer : layers) std::ranges::transform(runs, layer, runs.begin(), std::plus());
  const auto middle = middleRuns(runs);
  const double sum = std::accumulate(layers.begin(), layers.end(), 0.0,
                                     [&](double total, const auto& layer) { return total + meanOf(layer, middle); });
  EXPECT_DOUBLE_EQ(sum, meanOf(runs, middle));
  EXPECT_DOUBLE_EQ(sum, 6);
}

TEST(Latency, StepsThatBecomeSlowerAreQuietAndStepsThatJumpAreNot) {
  std::vector<double> growing(200);
  std::iota(growing.begin(), growing.end(), 100.0);
  EXPECT_TRUE(quietSteps(growing));
  std::vector<double> disturbed = growing;
  for (std::size_t i = 0; i < disturbed.size(); i += 10) disturbed[i] *= 2;
  EXPECT_FALSE(quietSteps(disturbed));
  EXPECT_TRUE(quietSteps({1.0}));
}

}  // namespace
}  // namespace fusescope::testing
