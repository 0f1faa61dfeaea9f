#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/stop.h"

namespace fusescope {

struct BuildPhase {
  std::string name;
  double ms = 0;
  bool operator==(const BuildPhase&) const = default;
};

/// Times the phases that long work announces: each lasts until the next one is announced, so that together they are the
/// whole time since the clock was made. What happens before the first belongs to the first. For one thread.
class PhaseClock {
 public:
  explicit PhaseClock(Progress forward = {});
  /// To be given to the work; also tells `forward`. The clock must outlive its use.
  Progress progress();
  /// The phases so far, in the order in which they first began; one that began again goes on.
  std::vector<BuildPhase> phases();

 private:
  void stopPhase();

  Progress m_forward;
  std::chrono::steady_clock::time_point m_since;
  std::vector<BuildPhase> m_phases;
  std::string m_current;
};

}  // namespace fusescope
