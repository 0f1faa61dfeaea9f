#include "engine/thread_policy.h"

#include <algorithm>

namespace fusescope {
namespace {

constexpr double kSlow = 1.3;                  // times the expected time of all threads: fewer are tried
constexpr double kGain = 0.95;                 // of the recent time: each run of a try must be below
constexpr std::size_t kTryRuns = 3;            // that a try takes
constexpr std::size_t kFirstPatience = 5;      // runs until the first try
constexpr std::size_t kLongestPatience = 160;  // runs between two tries at the most

}  // namespace

ThreadPolicy::ThreadPolicy(int threads, std::optional<double> expectedMs)
    : m_all(std::max(1, threads)), m_kept(m_all), m_expectedMs(expectedMs), m_patience(kFirstPatience) {}

double ThreadPolicy::recentMs() const {
  std::array<double, kWindow> sorted = m_recent;
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(m_runs, kWindow));
  std::sort(sorted.begin(), end);
  return sorted[static_cast<std::size_t>(end - sorted.begin()) / 2];
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
  m_goodRuns = 0;
  m_sinceTry = 0;
}

void ThreadPolicy::cannotTry() {
  m_isFixed = true;
  endTry(false);
}

void ThreadPolicy::ran(double ms) {
  if (m_tried != 0) {
    if (ms >= kGain * recentMs()) return endTry(false);
    if (++m_goodRuns == kTryRuns) endTry(true);
    return;
  }
  m_recent[m_runs++ % kWindow] = ms;
  // The fastest run of all threads is what they can do, whatever was expected.
  if (m_kept == m_all) m_expectedMs = std::min(m_expectedMs.value_or(ms), ms);
  if (++m_sinceTry < m_patience || m_runs < kWindow) return;
  m_tried = nextTry();
  m_sinceTry = 0;
}

}  // namespace fusescope
