#pragma once

#include <memory>

#include "base/stop.h"

namespace fusescope {

/// A stop that is requested by the user or after a time, whichever is first.
class Deadline {
 public:
  explicit Deadline(StopToken outer);
  ~Deadline();
  /// Requests a stop of token() after this number of seconds from now; 0: only the user requests it. Tokens that
  /// token() returned before this call are not stopped by the new time.
  void endAfter(double seconds);
  StopToken token() const;

 private:
  struct Clock;
  StopToken m_outer;
  std::unique_ptr<Clock> m_clock;
};

}  // namespace fusescope
