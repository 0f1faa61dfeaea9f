#pragma once

#include <stop_token>
#include <thread>

namespace fusescope::cli {

/// While this object lives, the first interrupt of the process (Ctrl-C, SIGTERM) requests a stop, so that results so
/// far are kept; the second one ends the process. It must be constructed before the process has other threads, because
/// they must not receive the signal.
class InterruptStop {
 public:
  InterruptStop();
  ~InterruptStop();
  InterruptStop(const InterruptStop&) = delete;
  InterruptStop& operator=(const InterruptStop&) = delete;
  std::stop_token token() const { return m_source.get_token(); }

 private:
  std::stop_source m_source;
  std::jthread m_watch;
};

}  // namespace fusescope::cli
