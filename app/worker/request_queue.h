#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>

#include "session/worker_protocol.h"

namespace fusescope::worker {

/// Requests between the thread that reads them and the one that works. Safe to use from both.
class RequestQueue {
 public:
  struct Taken {
    WorkerRequest request;
    std::stop_token stop;
  };

  void add(WorkerRequest request);
  /// The next request, waiting for it; nothing once closed. It is then the current one, until the next take().
  std::optional<Taken> take();
  /// Stops the current request, or takes one out of the queue that has not begun: then true, and nobody else answers
  /// it.
  bool cancel(std::int64_t id);
  /// No more requests: stops the current one and drops the rest.
  void close();

 private:
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<WorkerRequest> m_waiting;
  std::optional<std::int64_t> m_current;
  std::stop_source m_stop;
  bool m_closed = false;
};

}  // namespace fusescope::worker
