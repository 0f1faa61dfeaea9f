#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>

#include "session/worker_protocol.h"

namespace fusescope::worker {

/// Requests on their way from the thread that reads them to the thread that works on them. Both threads may use it at
/// the same time.
class RequestQueue {
 public:
  struct Taken {
    WorkerRequest request;
    std::stop_token stop;
  };

  void add(WorkerRequest request);
  /// Waits for the next request and returns it; returns nullopt after close(). The request is the current one until the
  /// next take().
  std::optional<Taken> take();
  /// Stops the current request, or removes one from the queue that has not begun. Returns true in the second case; the
  /// caller must then answer the request, because nobody else does.
  bool cancel(std::int64_t id);
  /// Accepts no more requests, stops the current one and drops the rest.
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
