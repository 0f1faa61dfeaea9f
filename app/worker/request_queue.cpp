#include "app/worker/request_queue.h"

#include <algorithm>

namespace fusescope::worker {

void RequestQueue::add(WorkerRequest request) {
  const std::lock_guard lock(m_mutex);
  m_waiting.push_back(std::move(request));
  m_changed.notify_all();
}

std::optional<RequestQueue::Taken> RequestQueue::take() {
  std::unique_lock lock(m_mutex);
  m_current.reset();
  m_changed.wait(lock, [&] { return m_closed || !m_waiting.empty(); });
  if (m_closed) return {};
  Taken taken{.request = std::move(m_waiting.front())};
  m_waiting.pop_front();
  m_current = taken.request.id;
  m_stop = std::stop_source();
  taken.stop = m_stop.get_token();
  return taken;
}

bool RequestQueue::cancel(std::int64_t id) {
  const std::lock_guard lock(m_mutex);
  if (m_current == id) {
    m_stop.request_stop();
    return false;
  }
  return std::erase_if(m_waiting, [&](const WorkerRequest& request) { return request.id == id; }) > 0;
}

void RequestQueue::close() {
  const std::lock_guard lock(m_mutex);
  m_closed = true;
  m_waiting.clear();
  m_stop.request_stop();
  m_changed.notify_all();
}

}  // namespace fusescope::worker
