#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace fusescope {

/// Limits one request's progress to what a reader can use: every change of phase is sent at once, and within a phase at
/// most one detail per interval, always the latest. A build reports thousands of details per second.
class ProgressLimiter {
 public:
  using Send = std::function<void(const std::string& phase, const std::string& detail)>;
  static constexpr std::chrono::milliseconds kInterval{50};

  /// `send` is called from report() and from the limiter's own thread, one call at a time.
  explicit ProgressLimiter(Send send, std::chrono::milliseconds interval = kInterval);
  /// A waiting detail is dropped; nothing is sent afterwards.
  ~ProgressLimiter() = default;
  ProgressLimiter(const ProgressLimiter&) = delete;
  ProgressLimiter& operator=(const ProgressLimiter&) = delete;
  void report(std::string_view phase, std::string_view detail);

 private:
  using Clock = std::chrono::steady_clock;
  void sendWhatWaits(const std::stop_token& stop);

  Send m_send;
  const std::chrono::milliseconds m_interval;
  std::mutex m_mutex;
  std::condition_variable_any m_changed;
  std::string m_phase;
  std::optional<std::string> m_waiting;  ///< a detail of m_phase
  Clock::time_point m_sent{};
  std::jthread m_thread;  ///< the last member: it uses the others
};

}  // namespace fusescope
