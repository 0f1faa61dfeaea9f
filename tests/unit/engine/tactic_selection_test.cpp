// What measured times count for, and how kernels are measured.
#include <gtest/gtest.h>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "backends/thread_team.h"
#include "backends/threads.h"
#include "base/json.h"
#include "engine/tactics/measurer.h"
#include "engine/tactics/tactic_selection.h"

namespace fusescope::testing {
namespace {

KernelTime time(double ms, double spread) {
  return {.ms = ms, .median = ms, .spread = spread};
}

Tactic fused(const std::string& name) {
  return {.name = name, .backend = "native", .implementation = name};
}

const Tactic kNodeByNode{.name = kUnfused, .backend = "native", .implementation = kUnfused};

using Costs = std::vector<std::optional<TacticCost>>;
using Times = std::vector<std::optional<KernelTime>>;

TEST(TacticSelection, TheGuessIsPreferredInEveryFormatAndOthersInTheirOrder) {
  std::vector<Tactic> tactics{fused("a"), fused("a"), fused("b"), fused("b"), fused("c"), fused("d")};
  tactics[1].inputs = {MemoryFormat::channelsLast(4)};
  tactics[3].inputs = {MemoryFormat::channelsLast(4)};
  const Times times{time(1.0, 0.01), time(0.9, 0.01), time(0.8, 0.01), time(0.7, 0.01), time(0.6, 0.9), std::nullopt};
  EXPECT_EQ(costsOf(tactics, times), (Costs{TacticCost{1.0, 0}, TacticCost{0.9, 0}, TacticCost{0.8, 1},
                                            TacticCost{0.7, 1}, TacticCost{0.6, 2}, std::nullopt}));
  const std::vector<Tactic> broken{fused("a"), fused("b")};
  EXPECT_EQ(costsOf(broken, Times{std::nullopt, time(1.0, 0.01)}), (Costs{std::nullopt, TacticCost{1.0, 0}}))
      << "the first that works is the guess";
}

TEST(TacticSelection, WhatMeasuringCannotTellApartTakesTheTimeOfTheOneThatIsPreferred) {
  const std::vector<MeasuredMoment> moments{{time(1.0, 0.01), time(0.9, 0.01), time(0.99, 0.01), time(2.0, 0.01)},
                                            {time(1.1, 0.01), time(0.95, 0.01), time(1.2, 0.01), std::nullopt},
                                            {time(1.05, 0.01), time(0.92, 0.01), std::nullopt, std::nullopt}};
  EXPECT_EQ(distinguishedTimes(moments), (Times{time(1.0, 0.01), time(0.9, 0.01), time(1.0, 0.01), time(2.0, 0.01)}));
  const std::vector<MeasuredMoment> turned{{time(1.0, 0.01), time(0.9, 0.01)}, {time(1.1, 0.01), time(1.2, 0.01)}};
  EXPECT_EQ(distinguishedTimes(turned), (Times{time(1.0, 0.01), time(1.0, 0.01)}))
      << "the second moment says otherwise";
  const std::vector<MeasuredMoment> unsure{{time(1.0, 0.01), time(0.8, 0.3)}};
  EXPECT_EQ(distinguishedTimes(unsure), (Times{time(1.0, 0.01), time(1.0, 0.01)})) << "within the spread";
  const std::vector<MeasuredMoment> little{{time(1.0, 0.001), time(0.98, 0.001)}};
  EXPECT_EQ(distinguishedTimes(little), (Times{time(1.0, 0.001), time(1.0, 0.001)})) << "less than times are off by";
}

TEST(TacticSelection, OfTacticsThatAreTakenToBeEqualTheFirstStandsForAll) {
  const std::vector<MeasuredMoment> near{{time(1.0, 0.05), time(0.95, 0.05), time(0.88, 0.05), std::nullopt}};
  EXPECT_EQ(distinguishedTimes(near), (Times{time(1.0, 0.05), time(1.0, 0.05), time(0.88, 0.05), std::nullopt}))
      << "the third is told from the first, which the second counts as";
  const std::vector<MeasuredMoment> broken{{std::nullopt, time(1.0, 0.01), time(1.01, 0.01)}};
  EXPECT_EQ(distinguishedTimes(broken), (Times{std::nullopt, time(1.0, 0.01), time(1.0, 0.01)}));
  EXPECT_TRUE(distinguishedTimes({}).empty());
}

/// Two builds that measure with noise of four in a hundred choose alike, though the noise is another.
TEST(TacticSelection, TheSameIsChosenOfTimesThatDifferByNoise) {
  const std::vector<double> truth{1.0, 0.99, 1.01, 0.7, 0.71, 1.3};
  const auto build = [&](int seed) {
    std::vector<MeasuredMoment> moments;
    for (int moment = 0; moment < 3; ++moment) {
      moments.emplace_back();
      for (std::size_t i = 0; i < truth.size(); ++i) {
        const int step =
            static_cast<int>((static_cast<std::size_t>(seed) * 7 + i * 5 + static_cast<std::size_t>(moment) * 3) % 5);
        moments.back().push_back(time(truth[i] * (1 + 0.02 * (step - 2)), 0.03));
      }
    }
    const auto told = distinguishedTimes(moments);
    const auto best = std::ranges::min_element(told, {}, [](const auto& known) { return known->ms; });
    return best - told.begin();
  };
  for (int seed = 0; seed < 20; ++seed) EXPECT_EQ(build(seed), 3) << seed;
}

TEST(TacticSelection, TheUnfusedWayIsTakenWhereItIsClearlyFasterAlone) {
  const std::vector<Tactic> tactics{fused("a"), kNodeByNode};
  EXPECT_EQ(costsOf(tactics, Times{time(1.0, 0.05), time(0.8, 0.05)})[1], (TacticCost{0.8, 1}));
  EXPECT_EQ(costsOf(tactics, Times{time(1.0, 0.05), time(0.8, 0.3)})[1], std::nullopt) << "within the noise";
  EXPECT_EQ(costsOf(tactics, Times{time(1.0, 0.001), time(0.98, 0.001)})[1], std::nullopt)
      << "too little to give up what the plan says";
  EXPECT_EQ(costsOf(tactics, Times{std::nullopt, time(0.8, 0.3)}), (Costs{std::nullopt, TacticCost{0.8}}))
      << "the only one";
  EXPECT_EQ(costsOf(tactics, Times{std::nullopt, std::nullopt}), (Costs{TacticCost{}, std::nullopt}));
}

TEST(TacticSelection, UnmeasuredTheFirstIsTakenInAnyFormat) {
  std::vector<Tactic> tactics{fused("a"), fused("a"), fused("b")};
  tactics[1].inputs = {MemoryFormat::channelsLast(4)};
  EXPECT_EQ(costsUnmeasured(tactics), (Costs{TacticCost{}, TacticCost{}, std::nullopt}));
}

TEST(TacticSelection, AFusedTacticWithoutATimeIsAssumedToCostAsMuchAsTheCheapest) {
  const std::vector<Tactic> tactics{fused("a"), fused("b"), fused("c"), kNodeByNode};
  const Times times{time(1.0, 0.05), std::nullopt, time(0.9, 0.05), std::nullopt};
  const Costs costs{TacticCost{1.0}, std::nullopt, std::nullopt, std::nullopt};
  EXPECT_EQ(assumedCosts(tactics, times, costs), (Costs{TacticCost{1.0}, TacticCost{1.0}, std::nullopt, std::nullopt}));
  EXPECT_EQ(fastestTime(times), &*times[2]);
  EXPECT_EQ(fastestTime(Times{std::nullopt}), nullptr);
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

/// What kernels that run leave behind: in which order they did, and how late it is by a clock that they alone turn.
struct Course {
  std::string log;
  double ms = 0;
};

/// Notes that it runs, and turns the clock.
class FakeCode final : public Code {
 public:
  FakeCode(char name, double ms, Course& course, bool works)
      : m_name(name), m_ms(ms), m_course(course), m_works(works) {}
  Status run(Stream&, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::span<const std::byte* const>, std::byte*) const override {
    m_course.log += m_name;
    m_course.ms += m_ms;
    EXPECT_NE(inputs[0], nullptr);
    EXPECT_NE(outputs[0], nullptr);
    if (!m_works) return Diagnostic{.message = "fails"};
    return Done{};
  }

 private:
  char m_name;
  double m_ms;
  Course& m_course;
  bool m_works;
};

Kernel fakeKernel(char name, double ms, Course& course, bool works = true) {
  return Kernel(std::make_shared<FakeCode>(name, ms, course, works), {});
}

/// Threads that never waited.
MeasuredThreads undisturbed(const Course& course) {
  return {[] { return 0.0; }, [](std::chrono::microseconds) {}, [&course] { return course.ms; }};
}

const TensorDesc kSmallDesc{DataType::F32, {4}}, kLarge{DataType::F32, {64}};

TEST(Measurer, RunsInRoundsAndLeavesWhatIsClearlySlower) {
  Course course;
  const Kernel quick = fakeKernel('q', 2, course), slow = fakeKernel('s', 40, course),
               broken = fakeKernel('b', 0, course, false);
  const std::vector<MeasuredKernel> kernels{
      {&quick, {kSmallDesc}, {kLarge}}, {&slow, {kLarge}, {kSmallDesc}}, {&broken, {kSmallDesc}, {kSmallDesc}}};
  const auto times =
      measureKernels(kernels, {.msEach = 100, .leastRounds = 4, .mostRounds = 8}, {}, undisturbed(course));
  ASSERT_TRUE(times.ok());
  ASSERT_TRUE(times.value()[0] && times.value()[1]);
  EXPECT_EQ(times.value()[2], std::nullopt) << "it fails on such data";
  EXPECT_EQ(times.value()[0]->ms, 2);
  EXPECT_EQ(times.value()[1]->ms, 40);
  EXPECT_EQ(course.log, "qsbqsqqq") << "a first run of each, then rounds; the slow one is not worth a second, and the "
                                       "quick one needs no more than a price does";
}

TEST(Measurer, RunsBeginWithAnotherKernelInEachRound) {
  Course course;
  const Kernel quick = fakeKernel('q', 2, course), slow = fakeKernel('s', 8, course);
  const std::vector<MeasuredKernel> kernels{{&quick, {kSmallDesc}, {kLarge}}, {&slow, {kLarge}, {kSmallDesc}}};
  ASSERT_TRUE(
      measureKernels(kernels, {.msEach = 100, .leastRounds = 4, .mostRounds = 8}, {}, undisturbed(course)).ok());
  EXPECT_EQ(course.log, "qsqssqqq") << "what is only much slower is worth a second run, and no third";
}

/// What is slower in the same formats is never chosen; in other formats it may save a conversion.
TEST(Measurer, ABeatenKernelEndsEarlyIfItHasTheSameFormats) {
  TensorDesc last{DataType::F32, {1, 4, 2, 2}, MemoryFormat::channelsLast(4)}, plain{DataType::F32, {1, 4, 2, 2}};
  const auto runs = [&](double ms, const TensorDesc& desc) {
    Course course;
    const Kernel best = fakeKernel('b', 2, course), other = fakeKernel('o', ms, course);
    const std::vector<MeasuredKernel> kernels{{&best, {plain}, {plain}}, {&other, {desc}, {desc}}};
    const auto times =
        measureKernels(kernels, {.msEach = 100, .leastRounds = 4, .mostRounds = 8}, {}, undisturbed(course));
    EXPECT_TRUE(times.ok() && times.value()[1]);
    EXPECT_NEAR(times.value()[1]->ms, ms, 1e-9);
    return std::pair(std::ranges::count(course.log, 'b'), std::ranges::count(course.log, 'o'));
  };
  EXPECT_EQ(runs(2.4, plain), std::pair(std::ptrdiff_t{5}, std::ptrdiff_t{5}));
  EXPECT_EQ(runs(1.9, plain), std::pair(std::ptrdiff_t{9}, std::ptrdiff_t{9})) << "too close to tell";
  EXPECT_EQ(runs(2.4, last), std::pair(std::ptrdiff_t{9}, std::ptrdiff_t{9})) << "its format may be worth it";
  EXPECT_EQ(runs(3.2, last), std::pair(std::ptrdiff_t{5}, std::ptrdiff_t{5}));
  EXPECT_TRUE(isBeaten(time(2.4, 0.01), time(2, 0.01), true));
  EXPECT_FALSE(isBeaten(time(2.4, 0.01), time(2, 0.01), false));
  EXPECT_FALSE(isBeaten(time(2.4, 0.1), time(2, 0.1), true)) << "the samples do not show it";
}

/// Measuring ends when the earlier of kernels with the same formats is chosen whatever the rest of the runs shows.
TEST(Measurer, AKernelThatIsNoBetterThanAnEarlierOneEndsEarly) {
  const auto runs = [&](double first, double second, double leastGain) {
    Course course;
    const Kernel earlier = fakeKernel('e', first, course), later = fakeKernel('l', second, course);
    const std::vector<MeasuredKernel> kernels{{&earlier, {kSmallDesc}, {kLarge}}, {&later, {kSmallDesc}, {kLarge}}};
    const MeasureBudget budget{.msEach = 100, .leastRounds = 4, .mostRounds = 8, .leastGain = leastGain};
    EXPECT_TRUE(measureKernels(kernels, budget, {}, undisturbed(course)).ok());
    return std::pair(std::ranges::count(course.log, 'e'), std::ranges::count(course.log, 'l'));
  };
  constexpr std::pair kFew{std::ptrdiff_t{5}, std::ptrdiff_t{5}}, kAll{std::ptrdiff_t{9}, std::ptrdiff_t{9}};
  EXPECT_EQ(runs(2, 2.1, 0.03), kFew);
  EXPECT_EQ(runs(2, 1.96, 0.03), kFew) << "it is faster by less than counts";
  EXPECT_EQ(runs(2, 1.9, 0.03), kAll) << "more runs show whether it is";
  EXPECT_EQ(runs(2, 1.96, 0), kAll) << "every gain counts";
  EXPECT_TRUE(isNoBetter(time(0.99, 0.01), time(1, 0.01), 0.03));
  EXPECT_FALSE(isNoBetter(time(0.99, 0.02), time(1, 0.02), 0.03)) << "the samples do not show it";
}

TEST(Measurer, WhatIsLeftAsMuchSlowerIsToldFromTheBest) {
  Course course;
  const Kernel slow = fakeKernel('s', 40, course), quick = fakeKernel('q', 2, course);
  const std::vector<MeasuredKernel> kernels{{&slow, {kSmallDesc}, {kLarge}}, {&quick, {kLarge}, {kSmallDesc}}};
  const auto times =
      measureKernels(kernels, {.msEach = 100, .leastRounds = 4, .mostRounds = 8}, {}, undisturbed(course));
  ASSERT_TRUE(times.ok());
  EXPECT_TRUE(times.value()[1]->isClearlyBelow(*times.value()[0]));
  const std::vector<MeasuredMoment> moments{times.value()};
  EXPECT_EQ(distinguishedTimes(moments)[1]->ms, 2) << "the first, preferred as it is, does not stand for it";
}

TEST(Measurer, RunsWhoseThreadsWaitedDoNotCount) {
  Course course;
  const Kernel kernel = fakeKernel('k', 1, course);
  const MeasuredKernel measured{&kernel, {kSmallDesc}, {kSmallDesc}};
  double waited = 0;
  int asked = 0, pauses = 0;
  MeasuredThreads threads = undisturbed(course);
  // Asked before and after each run: of three runs two waited as long as they took.
  threads.waitedMs = [&] {
    waited += asked++ % 6 == 1 || asked % 6 == 4 ? 1.0 : 0.0;
    return waited;
  };
  threads.pause = [&](std::chrono::microseconds) { ++pauses; };
  const auto times = measureKernels(std::span(&measured, 1), {.mostRounds = 5}, {}, threads);
  ASSERT_TRUE(times.ok() && times.value()[0]);
  EXPECT_GT(pauses, 5);
  // One to warm up, then for each pause a run that did not count and one behind it, and the five that count.
  EXPECT_EQ(std::ssize(course.log), 1 + 2 * pauses + 5);
}

TEST(Measurer, PatienceEndsWhereEveryRunIsDisturbed) {
  Course course;
  const Kernel kernel = fakeKernel('k', 0.25, course);
  const MeasuredKernel measured{&kernel, {kSmallDesc}, {kSmallDesc}};
  double waited = 0;
  MeasuredThreads threads = undisturbed(course);
  threads.waitedMs = [&] { return waited += 5; };
  const auto times =
      measureKernels(std::span(&measured, 1), {.msEach = 2, .patience = 3, .leastPatienceMs = 1}, {}, threads);
  ASSERT_TRUE(times.ok() && times.value()[0]);
  EXPECT_EQ(times.value()[0]->ms, 0.25) << "what there is must do";
  EXPECT_FALSE(times.value()[0]->quiet);
  EXPECT_EQ(times.value()[0]->spread, 1) << "nobody may rely on it";
  // One to warm up, then a run and one behind it until ten times the patience of 6 ms is over.
  EXPECT_EQ(std::ssize(course.log), 1 + 2 * 121);
}

TEST(Measurer, OneRunThatWasNotDisturbedAmongManyIsNoQuietMachine) {
  Course course;
  const Kernel kernel = fakeKernel('k', 0.25, course);
  const MeasuredKernel measured{&kernel, {kSmallDesc}, {kSmallDesc}};
  double waited = 0;
  int asked = 0;
  MeasuredThreads threads = undisturbed(course);
  threads.waitedMs = [&] {  // asked before and after each run: during the third nothing waits
    if (asked++ != 5) waited += 5;
    return waited;
  };
  const auto times =
      measureKernels(std::span(&measured, 1), {.msEach = 2, .patience = 3, .leastPatienceMs = 1}, {}, threads);
  ASSERT_TRUE(times.ok() && times.value()[0]);
  EXPECT_EQ(times.value()[0]->ms, 0.25);
  EXPECT_EQ(times.value()[0]->spread, 1);
  EXPECT_FALSE(times.value()[0]->quiet) << "else no later build would measure it again";
}

/// Processors that the calling thread may use.
cpu_set_t allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

TEST(ThreadTeam, EachThreadHasAProcessorWhileItLives) {
  setThreads(2);
  const cpu_set_t before = allowed();
  {
    const ThreadTeam team;
    const cpu_set_t within = allowed();
    EXPECT_EQ(CPU_COUNT(&within), 1);
  }
  const cpu_set_t after = allowed();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  setThreads(0);
}

TEST(ThreadTeam, TellsHowLongItWaitedForAProcessor) {
  setThreads(2);
  const ThreadTeam team;
  std::atomic<bool> stop = false;
  std::thread other([&] {  // made here, it may use the one processor that this thread has
    while (!stop) continue;
  });
  const double before = team.waitedMs();
  const auto start = std::chrono::steady_clock::now();
  while (team.waitedMs() == before && std::chrono::steady_clock::now() - start < std::chrono::seconds(10)) continue;
  EXPECT_GT(team.waitedMs(), before);
  stop = true;
  other.join();
  setThreads(0);
}

TEST(TacticSelection, ABuildSaysHowMuchOfItsMeasurementsWasDisturbed) {
  const KernelTime quiet = time(1.0, 0.01);
  const KernelTime busy{.ms = 1.0, .median = 3.0, .spread = 0.01, .quiet = false};
  EXPECT_FALSE(disturbance(std::vector{quiet, quiet}).has_value());
  const auto said = disturbance(std::vector{quiet, busy, quiet});
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->code, "build.disturbed");
  EXPECT_EQ(said->arguments, (DecisionArguments{{"disturbed", 1}, {"measured", 3}, {"times", "3.0"}}));
}

TEST(Measurer, StopsWhenItIsAskedTo) {
  Course course;
  const Kernel kernel = fakeKernel('k', 1, course);
  std::stop_source source;
  source.request_stop();
  const MeasuredKernel measured{&kernel, {{DataType::F32, {1}}}, {{DataType::F32, {1}}}};
  const auto times = measureKernels(std::span(&measured, 1), {}, source.get_token());
  ASSERT_FALSE(times.ok());
  EXPECT_TRUE(times.error().cancelled);
  EXPECT_EQ(course.log, "");
}

}  // namespace
}  // namespace fusescope::testing
