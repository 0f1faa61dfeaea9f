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

/// Returns the sum of the times of the phases, in milliseconds.
double totalMs(const std::vector<BuildPhase>& phases);

/// Measures the phases that long work announces. A phase lasts until the next one is announced, so that the phases
/// together are the whole time since the clock was made. The time before the first announcement counts as part of the
/// first phase. Not thread-safe.
class PhaseClock {
 public:
  explicit PhaseClock(Progress forward = {});
  /// Returns the function that the work calls to announce phases. It also calls `forward`. The clock must outlive its
  /// use.
  Progress progress();
  /// Returns the phases so far, in the order in which they first began. If a phase began again, its times are added.
  std::vector<BuildPhase> phases();

 private:
  void stopPhase();

  Progress m_forward;
  std::chrono::steady_clock::time_point m_since;
  std::vector<BuildPhase> m_phases;
  std::string m_current;
};

}  // namespace fusescope
