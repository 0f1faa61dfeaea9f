#pragma once

#include <memory>

#include "base/stop.h"

namespace fusescope {

/// A stop that comes from the user or when a time is over, whichever is first.
class Deadline {
 public:
  explicit Deadline(StopToken outer);
  ~Deadline();
  /// token() is stopped when so many seconds from now are over, too; 0: by the user alone. Tokens that were given
  /// before are stopped by neither.
  void endAfter(double seconds);
  StopToken token() const;

 private:
  struct Clock;
  StopToken m_outer;
  std::unique_ptr<Clock> m_clock;
};

}  // namespace fusescope
