// What is made of the times of runs, steps and layers.
#include "engine/latency.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/sanitizers.h"
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

/// What the layers add up to, over the time of runs without clocks between the steps.
double partOfWhole(Engine& engine, const std::map<std::string, Tensor>& inputs) {
  const auto report = engine.time(inputs, {.seconds = 0.3, .warmupSeconds = 0.1, .perLayer = true});
  if (!report.ok()) throw std::runtime_error(report.error().text());
  double sum = 0;
  for (const StepTime& layer : report.value().layers) sum += layer.medianMs.value_or(0);
  return sum / report.value().medianMs.value();
}

// Runs that are short, and of one thread: other work interrupts but few of them.
TEST(Latency, LayersAddUpToTheWhole) {
  if (FUSESCOPE_ADDRESS_SANITIZER || FUSESCOPE_THREAD_SANITIZER) GTEST_SKIP() << "what a sanitizer adds is no layer's";
  for (const char* sample : {"tiny_resnet_dynbatch", "moe_dense"}) {
    const auto plan = planOf(sampleModel(sample));
    const auto engine = engineOf(plan, {.backend = "native", .threads = 1, .measureTactics = false});
    const ValueId input = plan->graph().inputs().front();
    const std::map<std::string, Tensor> inputs{
        {plan->graph().value(input).name, noise(plan->inputSpecs.front().opt, 1)}};
    double part = 0;
    for (int i = 0; i < 5 && std::abs(part - 1) > 0.05; ++i) part = partOfWhole(*engine, inputs);
    EXPECT_NEAR(part, 1.0, 0.05) << sample;
  }
}

}  // namespace
}  // namespace fusescope::testing
