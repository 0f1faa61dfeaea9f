// What measured times count for, and how kernels are measured.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "engine/measurer.h"
#include "engine/tactic_selection.h"

namespace fusescope::testing {
namespace {

KernelTime time(double ms, double spread) {
  return {.ms = ms, .median = ms, .spread = spread};
}

Tactic fused(const std::string& name) {
  return {.name = name, .backend = "native", .implementation = name};
}

const Tactic kNodeByNode{.name = kUnfused, .backend = "native", .implementation = kUnfused};

using Costs = std::vector<std::optional<double>>;
using Times = std::vector<std::optional<KernelTime>>;

TEST(TacticSelection, WhatTheFastestDoesNotClearlyBeatCountsLikeIt) {
  const std::vector<Tactic> tactics{fused("a"), fused("b"), fused("c"), fused("d"), fused("e")};
  const Times times{time(1.0, 0.02), time(1.005, 0.001), time(1.025, 0.02), time(1.025, 0.001), time(2.0, 0.9)};
  EXPECT_EQ(costsOf(tactics, times), (Costs{1.0, 1.0, 1.0, 1.025, 2.0}));
  const Times sure{time(1.0, 0.001), time(1.005, 0.001), time(1.025, 0.001), std::nullopt, time(2.0, 0.9)};
  EXPECT_EQ(costsOf(tactics, sure), (Costs{1.0, 1.0, 1.025, std::nullopt, 2.0}));
}

TEST(TacticSelection, TheUnfusedWayIsTakenWhereItIsClearlyFasterAlone) {
  const std::vector<Tactic> tactics{fused("a"), kNodeByNode};
  EXPECT_EQ(costsOf(tactics, Times{time(1.0, 0.05), time(0.8, 0.05)}), (Costs{1.0, 0.8}));
  EXPECT_EQ(costsOf(tactics, Times{time(1.0, 0.05), time(0.8, 0.3)}), (Costs{1.0, std::nullopt})) << "within the noise";
  EXPECT_EQ(costsOf(tactics, Times{time(1.0, 0.001), time(0.98, 0.001)}), (Costs{1.0, std::nullopt}))
      << "too little to give up what the plan says";
  EXPECT_EQ(costsOf(tactics, Times{std::nullopt, time(0.8, 0.3)}), (Costs{std::nullopt, 0.8})) << "the only one";
  EXPECT_EQ(costsOf(tactics, Times{std::nullopt, std::nullopt}), (Costs{0.0, std::nullopt}));
}

TEST(TacticSelection, UnmeasuredTheFirstIsTakenInAnyFormat) {
  std::vector<Tactic> tactics{fused("a"), fused("a"), fused("b")};
  tactics[1].inputs = {MemoryFormat::channelsLast(4)};
  EXPECT_EQ(costsUnmeasured(tactics), (Costs{0.0, 0.0, std::nullopt}));
}

TEST(Measurer, ATimeIsOfTheFastRuns) {
  std::vector<double> samples(20, 1.0);
  EXPECT_DOUBLE_EQ(timeOf(samples).ms, 1.0);
  EXPECT_DOUBLE_EQ(timeOf(samples).spread, 0.0);
  EXPECT_TRUE(timeOf(samples).quiet);
  for (std::size_t i = 0; i < 12; ++i) samples[i] = 5 + static_cast<double>(i);
  EXPECT_DOUBLE_EQ(timeOf(samples).ms, 1.0) << "most of the time somebody else ran";
  EXPECT_GT(timeOf(samples).median, 4.0);
  EXPECT_FALSE(timeOf(samples).quiet);
  samples[19] = 0.5;
  EXPECT_DOUBLE_EQ(timeOf(samples).ms, 1.0) << "the least alone is luck";
  EXPECT_EQ(timeOf({1.0, 1.0}).spread, 1.0) << "two runs say little";
  EXPECT_TRUE(time(1, 0.1).isClearlyBelow(time(2, 0.1)));
  EXPECT_FALSE(time(1, 0.1).isClearlyBelow(time(1.1, 0.1)));
}

/// Notes when it runs, and takes its time.
class FakeCode final : public Code {
 public:
  FakeCode(char name, double ms, std::string& log, bool works) : m_name(name), m_ms(ms), m_log(log), m_works(works) {}
  Status run(Stream&, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::span<const std::byte* const>, std::byte*) const override {
    m_log += m_name;
    EXPECT_NE(inputs[0], nullptr);
    EXPECT_NE(outputs[0], nullptr);
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(m_ms));
    if (!m_works) return Diagnostic{.message = "fails"};
    return Done{};
  }

 private:
  char m_name;
  double m_ms;
  std::string& m_log;
  bool m_works;
};

Kernel fakeKernel(char name, double ms, std::string& log, bool works = true) {
  return Kernel(std::make_shared<FakeCode>(name, ms, log, works), {});
}

TEST(Measurer, RunsInRoundsAndLeavesWhatIsClearlySlower) {
  std::string log;
  const Kernel quick = fakeKernel('q', 2, log), slow = fakeKernel('s', 40, log),
               broken = fakeKernel('b', 0, log, false);
  const TensorDesc small{DataType::F32, {4}}, large{DataType::F32, {64}};
  const std::vector<MeasuredKernel> kernels{
      {&quick, {small}, {large}}, {&slow, {large}, {small}}, {&broken, {small}, {small}}};
  const auto times = measureKernels(kernels, {.msEach = 100, .leastRounds = 4, .mostRounds = 8});
  ASSERT_TRUE(times.ok());
  ASSERT_TRUE(times.value()[0] && times.value()[1]);
  EXPECT_EQ(times.value()[2], std::nullopt) << "it fails on such data";
  EXPECT_GE(times.value()[0]->ms, 2);
  EXPECT_GE(times.value()[1]->ms, 40);
  EXPECT_EQ(log.substr(0, 7), "qsbqssq") << "a first run of each, then rounds that begin with another each time";
  EXPECT_EQ(std::ranges::count(log, 'b'), 1);
  EXPECT_EQ(std::ranges::count(log, 's'), 3) << "far behind: not worth a third";
  EXPECT_GE(std::ranges::count(log, 'q'), 5);
}

TEST(Measurer, StopsWhenItIsAskedTo) {
  std::string log;
  const Kernel kernel = fakeKernel('k', 1, log);
  std::stop_source source;
  source.request_stop();
  const MeasuredKernel measured{&kernel, {{DataType::F32, {1}}}, {{DataType::F32, {1}}}};
  const auto times = measureKernels(std::span(&measured, 1), {}, source.get_token());
  ASSERT_FALSE(times.ok());
  EXPECT_TRUE(times.error().cancelled);
  EXPECT_EQ(log, "");
}

}  // namespace
}  // namespace fusescope::testing
