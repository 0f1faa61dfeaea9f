#include "tuning/deadline.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace fusescope {

struct Deadline::Clock {
  Clock(const StopToken& outer, std::chrono::steady_clock::time_point end)
      : forward(outer, [this] { source.request_stop(); }), thread([this, end](const StopToken& ended) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any().wait_until(lock, ended, end, [] { return false; });
          if (!ended.stop_requested()) source.request_stop();
        }) {}

  std::stop_source source;
  std::stop_callback<std::function<void()>> forward;
  std::jthread thread;
};

Deadline::Deadline(StopToken outer) : m_outer(std::move(outer)) {}
Deadline::~Deadline() = default;

void Deadline::stopAfter(double seconds) {
  constexpr double kMostSeconds = 1e8;  // a longer time never ends, and clocks cannot count it
  const std::chrono::duration<double> time(std::min(seconds, kMostSeconds));
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(time);
  m_clock = seconds > 0 ? std::make_unique<Clock>(m_outer, end) : nullptr;
}

StopToken Deadline::token() const {
  return m_clock != nullptr ? m_clock->source.get_token() : m_outer;
}

}  // namespace fusescope
