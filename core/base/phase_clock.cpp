#include "base/phase_clock.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fusescope {

double totalMs(const std::vector<BuildPhase>& phases) {
  return std::accumulate(phases.begin(), phases.end(), 0.0,
                         [](double ms, const BuildPhase& phase) { return ms + phase.ms; });
}

PhaseClock::PhaseClock(Progress forward) : m_forward(std::move(forward)), m_since(std::chrono::steady_clock::now()) {}

Progress PhaseClock::progress() {
  return [this](std::string_view phase, std::string_view detail) {
    if (phase != m_current) {
      stopPhase();
      m_current = phase;
    }
    if (m_forward) m_forward(phase, detail);
  };
}

void PhaseClock::stopPhase() {
  if (m_current.empty()) return;
  const auto now = std::chrono::steady_clock::now();
  const double ms = std::chrono::duration<double, std::milli>(now - std::exchange(m_since, now)).count();
  const auto known = std::ranges::find(m_phases, m_current, &BuildPhase::name);
  if (known == m_phases.end()) {
    m_phases.push_back({m_current, ms});
  } else {
    known->ms += ms;
  }
}

std::vector<BuildPhase> PhaseClock::phases() {
  stopPhase();
  return m_phases;
}

}  // namespace fusescope
