#include "engine/thread_policy.h"

#include <algorithm>
#include <utility>

namespace fusescope {
namespace {

constexpr double kSlow = 1.3;                  // times the expected time of all threads: fewer are tried
constexpr double kGain = 0.95;                 // of the recent time: a try of fewer threads must be below
constexpr double kHopeless = 1.25;             // times the recent time: a try ends
constexpr std::size_t kFirstPatience = 5;      // runs until the first try
constexpr std::size_t kLongestPatience = 160;  // runs between two tries at the most

/// Of the first `count`, at least one.
template <std::size_t N>
double medianOf(std::array<double, N> times, std::size_t count) {
  const auto end = times.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(times.begin(), end);
  return times[count / 2];
}

}  // namespace

ThreadPolicy::ThreadPolicy(int threads, std::optional<double> expectedMs)
    : m_all(std::max(1, threads)), m_kept(m_all), m_expectedMs(expectedMs), m_patience(kFirstPatience) {}

double ThreadPolicy::recentMs() const {
  return medianOf(m_recent, std::min(m_runs, kWindow));
}

bool ThreadPolicy::isSlow() const {
  return m_expectedMs && recentMs() > kSlow * *m_expectedMs;
}

/// Between all threads and one, tries of more and of fewer take turns. 0: there is nothing to try.
int ThreadPolicy::nextTry() {
  const bool mayRise = m_kept<m_all, mayFall = m_kept> 1 && isSlow();
  if (m_isFixed || (!mayRise && !mayFall)) return 0;
  m_triedMore = mayRise && (!mayFall || !m_triedMore);
  return m_triedMore ? std::min(2 * m_kept, m_all) : m_kept / 2;
}

void ThreadPolicy::endTry(bool isKept) {
  if (isKept) {
    m_kept = m_tried;
    m_patience = kFirstPatience;
    m_runs = 0;
  } else {
    m_patience = std::min(2 * m_patience, kLongestPatience);
  }
  m_tried = 0;
  m_tryRuns = 0;
  m_isAwake = false;
  m_sinceTry = 0;
}

void ThreadPolicy::cannotTry() {
  m_isFixed = true;
  endTry(false);
}

void ThreadPolicy::ran(double ms) {
  if (m_tried != 0) {
    if (!std::exchange(m_isAwake, true)) return;
    if (ms > kHopeless * recentMs()) return endTry(false);
    m_tryMs[m_tryRuns++] = ms;
    if (m_tryRuns < kTryRuns) return;
    const double gain = m_tried > m_kept ? 1 : kGain;
    return endTry(medianOf(m_tryMs, kTryRuns) < gain * recentMs());
  }
  m_recent[m_runs++ % kWindow] = ms;
  // The fastest run of all threads is what they can do, whatever was expected.
  if (m_kept == m_all) m_expectedMs = std::min(m_expectedMs.value_or(ms), ms);
  if (++m_sinceTry < m_patience || m_runs < kWindow) return;
  m_tried = nextTry();
  m_sinceTry = 0;
}

}  // namespace fusescope
