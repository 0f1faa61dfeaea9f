#include "session/progress_limiter.h"

#include <utility>

namespace fusescope {

ProgressLimiter::ProgressLimiter(Send send, std::chrono::milliseconds interval)
    : m_send(std::move(send)),
      m_interval(interval),
      m_thread([this](const std::stop_token& stop) { sendWhatWaits(stop); }) {}

void ProgressLimiter::report(std::string_view phase, std::string_view detail) {
  const std::lock_guard lock(m_mutex);
  const auto now = Clock::now();
  if (phase == m_phase && now - m_sent < m_interval) {
    const bool first = !m_waiting;
    m_waiting = detail;
    if (first) m_changed.notify_all();
    return;
  }
  m_phase = phase;
  m_waiting.reset();
  m_sent = now;
  m_send(m_phase, std::string(detail));
}

void ProgressLimiter::sendWhatWaits(const std::stop_token& stop) {
  std::unique_lock lock(m_mutex);
  while (m_changed.wait(lock, stop, [&] { return m_waiting.has_value(); })) {
    const auto due = m_sent + m_interval;
    m_changed.wait_until(lock, stop, due, [&] { return !m_waiting; });
    if (stop.stop_requested()) return;
    // Already sent, or another phase has begun meanwhile.
    if (!m_waiting || Clock::now() < m_sent + m_interval) continue;
    m_sent = Clock::now();
    m_send(m_phase, *std::exchange(m_waiting, {}));
  }
}

}  // namespace fusescope
