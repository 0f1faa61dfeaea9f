#include "base/phase_clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace fusescope {
namespace {

using std::chrono::milliseconds;

TEST(PhaseClock, PhasesAreTheWholeTime) {
  std::vector<std::string> told;
  const auto start = std::chrono::steady_clock::now();
  PhaseClock clock([&](std::string_view phase, std::string_view detail) {
    told.push_back(std::string(phase) + " " + std::string(detail));
  });
  const Progress progress = clock.progress();
  std::this_thread::sleep_for(milliseconds(20));  // of the first phase, which has not been announced yet
  progress("open", "a");
  std::this_thread::sleep_for(milliseconds(5));
  progress("kernels", "1");
  progress("kernels", "2");
  std::this_thread::sleep_for(milliseconds(30));
  progress("open", "b");
  const auto phases = clock.phases();
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_EQ(phases[0].name, "open");
  EXPECT_EQ(phases[1].name, "kernels");
  EXPECT_GE(phases[0].ms, 25);
  EXPECT_GE(phases[1].ms, 30);
  EXPECT_NEAR(phases[0].ms + phases[1].ms, elapsed.count(), 1);
  EXPECT_EQ(told, (std::vector<std::string>{"open a", "kernels 1", "kernels 2", "open b"}));
}

}  // namespace
}  // namespace fusescope
