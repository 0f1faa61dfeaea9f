#pragma once

#include <memory>

#include "base/stop.h"

namespace fusescope {

/// A stop that is requested by the user or after a time, whichever is first.
class Deadline {
 public:
  explicit Deadline(StopToken outer);
  ~Deadline();
  /// Makes token() stop after this number of seconds from now, as well as when the user stops; 0: only when the user
  /// stops. Tokens that token() returned while an earlier time was set are not stopped any more, neither by the user
  /// nor by a time.
  void stopAfter(double seconds);
  StopToken token() const;

 private:
  struct Clock;
  StopToken m_outer;
  std::unique_ptr<Clock> m_clock;
};

}  // namespace fusescope
