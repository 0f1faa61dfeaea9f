#include "session/progress_limiter.h"

#include <gtest/gtest.h>

#include <vector>

namespace fusescope {
namespace {

using Clock = std::chrono::steady_clock;

/// What was sent; written in other threads.
class Sent {
 public:
  ProgressLimiter::Send into() {
    return [this](const std::string& phase, const std::string& detail) {
      const std::lock_guard lock(m_mutex);
      m_lines.push_back(phase + " " + detail);
    };
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(m_mutex);
    return m_lines;
  }

 private:
  mutable std::mutex m_mutex;
  std::vector<std::string> m_lines;
};

TEST(ProgressLimiter, SendsAtMostOneDetailPerIntervalAndTheNewestInTheEnd) {
  Sent sent;
  ProgressLimiter limiter(sent.into());
  const auto start = Clock::now();
  int told = 0;
  while (Clock::now() - start < 5 * ProgressLimiter::kInterval) limiter.tell("kernels", std::to_string(++told));
  const auto intervals = (Clock::now() - start) / ProgressLimiter::kInterval;
  EXPECT_LE(sent.lines().size(), static_cast<std::size_t>(intervals) + 1);
  std::this_thread::sleep_for(2 * ProgressLimiter::kInterval);  // nothing more is told: one kernel that takes long
  const auto lines = sent.lines();
  EXPECT_GE(told, 1000);
  EXPECT_LE(lines.size(), static_cast<std::size_t>(intervals) + 2);
  EXPECT_EQ(lines.front(), "kernels 1");
  EXPECT_EQ(lines.back(), "kernels " + std::to_string(told));
}

TEST(ProgressLimiter, APhaseIsSentAtOnce) {
  Sent sent;
  ProgressLimiter limiter(sent.into());
  limiter.tell("open", "a");
  limiter.tell("open", "b");
  limiter.tell("plan", "");
  limiter.tell("kernels", "1");
  EXPECT_EQ(sent.lines(), (std::vector<std::string>{"open a", "plan ", "kernels 1"}));
  std::this_thread::sleep_for(2 * ProgressLimiter::kInterval);
  EXPECT_EQ(sent.lines().size(), 3U) << "a detail of a phase that has ended is of no use";
}

TEST(ProgressLimiter, NothingIsSentAfterItsEnd) {
  Sent sent;
  {
    ProgressLimiter limiter(sent.into());
    limiter.tell("kernels", "1");
    limiter.tell("kernels", "2");
  }
  std::this_thread::sleep_for(2 * ProgressLimiter::kInterval);
  EXPECT_EQ(sent.lines(), std::vector<std::string>{"kernels 1"});
}

}  // namespace
}  // namespace fusescope
