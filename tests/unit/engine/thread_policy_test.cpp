// By how many threads a program runs, as a function of times that are given: no clock is read here.
#include "engine/program/thread_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace fusescope::testing {
namespace {

/// What a run takes by each number of threads.
using Machine = std::map<int, double>;

/// The threads of `count` runs on `machine`.
std::vector<int> runs(ThreadPolicy& policy, const Machine& machine, int count) {
  std::vector<int> threads;
  for (int i = 0; i < count; ++i) {
    threads.push_back(policy.threads());
    policy.ran(machine.at(policy.threads()));
  }
  return threads;
}

const Machine kQuiet{{1, 10.0}, {2, 5.5}, {4, 3.0}};
const Machine kBusy{{1, 10.0}, {2, 21.0}, {4, 40.0}};

TEST(ThreadPolicy, QuietRunsNeverTryFewerThreads) {
  ThreadPolicy policy(2, 5.4);
  EXPECT_EQ(runs(policy, kQuiet, 1000), std::vector<int>(1000, 2));
  ThreadPolicy unknown(2);
  EXPECT_EQ(runs(unknown, kQuiet, 1000), std::vector<int>(1000, 2)) << "nothing was expected, and nothing changed";
}

TEST(ThreadPolicy, ABusyMachineGetsFewerAndAQuietOneAllOfThemAgain) {
  ThreadPolicy policy(2, 5.4);
  const std::vector<int> busy = runs(policy, kBusy, 400);
  EXPECT_EQ(std::vector<int>(busy.begin(), busy.begin() + 8), (std::vector<int>{2, 2, 2, 1, 1, 1, 1, 1}));
  EXPECT_EQ(policy.kept(), 1);
  const auto tries = std::count(busy.begin() + 8, busy.end(), 2);
  EXPECT_GT(tries, 0);
  EXPECT_LT(tries, 30) << "each try that fails doubles the time until the next";
  runs(policy, kQuiet, 400);
  EXPECT_EQ(policy.kept(), 2);
}

TEST(ThreadPolicy, TheFastestRunOfAllThreadsIsExpectedFromThen) {
  ThreadPolicy policy(2);
  runs(policy, kQuiet, 10);
  runs(policy, kBusy, 20);
  EXPECT_EQ(policy.kept(), 1);
}

TEST(ThreadPolicy, WhatIsSlowByAnyNumberOfThreadsKeepsAll) {
  ThreadPolicy policy(2, 5.4);
  const std::vector<int> threads = runs(policy, {{1, 30.0}, {2, 20.0}}, 700);
  EXPECT_EQ(policy.kept(), 2);
  EXPECT_LE(std::count(threads.begin(), threads.end(), 1), 40) << "tries become rare";
}

TEST(ThreadPolicy, OneRunThatIsFasterByLuckKeepsNothing) {
  ThreadPolicy policy(2, 5.4);
  runs(policy, kBusy, 3);
  ASSERT_EQ(policy.threads(), 1);
  for (const double ms : {10.0, 20.9, 10.0, 31.0}) policy.ran(ms);
  EXPECT_EQ(policy.kept(), 2);
}

// Beside work that wanders between processors two threads are as fast as alone in most runs, and wait in the others.
TEST(ThreadPolicy, WhatIsFastInMostRunsAndSlowOnAverageIsNotKept) {
  ThreadPolicy policy(2, 2.8);
  int slow = 0, byTwo = 0;
  constexpr int kRuns = 4000;
  for (int i = 0; i < kRuns; ++i) {
    byTwo += policy.threads() == 2 ? 1 : 0;
    policy.ran(policy.threads() == 1 ? 5.3 : ++slow % 5 < 2 ? 12.0 : 2.8);
  }
  EXPECT_EQ(policy.kept(), 1);
  EXPECT_LT(byTwo, kRuns / 10);
}

// A network of microseconds: what shares it sleeps while one thread runs it, and takes a run to wake up.
TEST(ThreadPolicy, ThreadsThatWakeUpInTheFirstRunAreTakenBack) {
  ThreadPolicy policy(2, 0.3);
  for (int i = 0; i < 190; ++i) policy.ran(policy.threads() == 2 ? 0.5 : 0.38);  // something else wanted the machine
  ASSERT_EQ(policy.kept(), 1);
  int before = 1;
  for (int i = 0; i < 300; ++i) {
    const int threads = policy.threads();
    policy.ran(threads == 1 ? 0.38 : before == 1 ? 0.6 : 0.3);
    before = threads;
  }
  EXPECT_EQ(policy.kept(), 2);
}

TEST(ThreadPolicy, ThreadsAreHalvedAndDoubled) {
  ThreadPolicy policy(6, 3.0);
  const Machine busy{{1, 10.0}, {3, 20.0}, {6, 40.0}, {2, 12.0}};
  runs(policy, busy, 60);
  EXPECT_EQ(policy.kept(), 1);
  runs(policy, {{1, 10.0}, {2, 6.0}, {4, 4.0}, {6, 3.0}, {3, 5.0}}, 600);
  EXPECT_EQ(policy.kept(), 6);
}

TEST(ThreadPolicy, WhatCannotBeTriedIsNotAskedForAgain) {
  ThreadPolicy policy(2, 5.4);
  runs(policy, kBusy, 3);
  ASSERT_EQ(policy.threads(), 1);
  policy.cannotTry();
  EXPECT_EQ(runs(policy, kBusy, 300), std::vector<int>(300, 2));
  ThreadPolicy alone(1, 5.4);
  EXPECT_EQ(runs(alone, kBusy, 100), std::vector<int>(100, 1));
}

}  // namespace
}  // namespace fusescope::testing
