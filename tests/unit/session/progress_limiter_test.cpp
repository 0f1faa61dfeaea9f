#include "session/progress_limiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace fusescope {
namespace {

using std::chrono::hours, std::chrono::milliseconds;

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

TEST(ProgressLimiter, SendsAtMostOneDetailPerInterval) {
  Sent sent;
  ProgressLimiter limiter(sent.into(), hours(1));
  for (int told = 1; told <= 1000; ++told) limiter.report("kernels", std::to_string(told));
  EXPECT_EQ(sent.lines(), std::vector<std::string>{"kernels 1"});
}

TEST(ProgressLimiter, SendsTheNewestInTheEnd) {
  Sent sent;
  ProgressLimiter limiter(sent.into(), milliseconds(1));
  for (int told = 1; told <= 1000; ++told) limiter.report("kernels", std::to_string(told));
  // Nothing more is told: one kernel that takes long.
  while (sent.lines().back() != "kernels 1000") std::this_thread::sleep_for(milliseconds(1));
  const auto lines = sent.lines();
  EXPECT_EQ(lines.front(), "kernels 1");
  EXPECT_EQ(std::ranges::count(lines, "kernels 1000"), 1);
}

TEST(ProgressLimiter, APhaseIsSentAtOnce) {
  Sent sent;
  ProgressLimiter limiter(sent.into(), hours(1));
  limiter.report("open", "a");
  limiter.report("open", "b");
  limiter.report("plan", "");
  limiter.report("kernels", "1");
  EXPECT_EQ(sent.lines(), (std::vector<std::string>{"open a", "plan ", "kernels 1"}))
      << "a detail of a phase that has ended is of no use";
}

TEST(ProgressLimiter, NothingIsSentAfterItsEnd) {
  Sent sent;
  {
    ProgressLimiter limiter(sent.into(), hours(1));
    limiter.report("kernels", "1");
    limiter.report("kernels", "2");
  }
  EXPECT_EQ(sent.lines(), std::vector<std::string>{"kernels 1"});
}

}  // namespace
}  // namespace fusescope
