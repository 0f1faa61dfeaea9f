#pragma once

#include <stop_token>
#include <thread>

namespace fusescope::cli {

/// While it is there, the first interrupt (Ctrl-C, SIGTERM) of the process asks to stop, so that what was found so far
/// is kept; the next one ends it. To be made before the process has other threads: they must not take the signal.
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
