#include "base/phase_clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace fusescope {
namespace {

using std::chrono::milliseconds;

constexpr double kRounding = 1e-6;  ///< of sums of doubles, in milliseconds

TEST(PhaseClock, PhasesAreTheWholeTime) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::string> told;
  const auto before = Clock::now();
  PhaseClock clock([&](std::string_view phase, std::string_view detail) {
    told.push_back(std::string(phase) + " " + std::string(detail));
  });
  const auto made = Clock::now();
  const Progress progress = clock.progress();
  std::this_thread::sleep_for(milliseconds(20));  // of the first phase, which has not been announced yet
  progress("open", "a");
  std::this_thread::sleep_for(milliseconds(5));
  progress("kernels", "1");
  progress("kernels", "2");
  std::this_thread::sleep_for(milliseconds(30));
  progress("open", "b");
  const auto asked = Clock::now();
  const auto phases = clock.phases();
  const std::chrono::duration<double, std::milli> least = asked - made, most = Clock::now() - before;
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_EQ(phases[0].name, "open");
  EXPECT_EQ(phases[1].name, "kernels");
  EXPECT_GE(phases[0].ms, 25) << "a sleep lasts at least as long as it is asked to";
  EXPECT_GE(phases[1].ms, 30);
  // The clock was made, and asked, between two looks at the same clock here, however long those took.
  EXPECT_GE(phases[0].ms + phases[1].ms, least.count() - kRounding);
  EXPECT_LE(phases[0].ms + phases[1].ms, most.count() + kRounding);
  EXPECT_EQ(told, (std::vector<std::string>{"open a", "kernels 1", "kernels 2", "open b"}));
}

}  // namespace
}  // namespace fusescope
