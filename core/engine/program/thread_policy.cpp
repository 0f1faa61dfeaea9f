#include "engine/program/thread_policy.h"

#include <algorithm>
#include <utility>

namespace fusescope {
namespace {

constexpr double kSlow = 1.3;                 // times the expected time of all threads: fewer are tried
constexpr double kGain = 0.95;                // of the recent time: a try of fewer threads must be below
constexpr double kHopeless = 1.25;            // times the recent time: a try ends
constexpr std::size_t kLeastRuns = 3;         // of a stretch
constexpr double kLeastMs = 40;               // of a stretch: some time slices of a scheduler
constexpr std::size_t kFirstStretches = 1;    // stretches until the first try
constexpr std::size_t kLongestPatience = 64;  // stretches between two tries at the most

}  // namespace

ThreadPolicy::ThreadPolicy(int threads, std::optional<double> expectedMs)
    : m_all(std::max(1, threads)), m_kept(m_all), m_expectedMs(expectedMs), m_patience(kFirstStretches) {}

void ThreadPolicy::Stretch::add(double runMs) {
  ms += runMs;
  ++runs;
}

bool ThreadPolicy::Stretch::isWhole() const {
  return runs >= kLeastRuns && ms >= kLeastMs;
}

bool ThreadPolicy::isSlow() const {
  return m_expectedMs && m_recentMs > kSlow * *m_expectedMs;
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
    m_patience = kFirstStretches;
  } else {
    m_patience = std::min(2 * m_patience, kLongestPatience);
  }
  m_tried = 0;
  m_now = {};
  m_isAwake = false;
  m_sinceTry = 0;
}

void ThreadPolicy::cannotTry() {
  m_isFixed = true;
  endTry(false);
}

void ThreadPolicy::ranTry(double ms) {
  if (!std::exchange(m_isAwake, true)) return;
  m_now.add(ms);
  const bool isHopeless = m_now.runs >= kLeastRuns && m_now.meanMs() > kHopeless * m_recentMs;
  if (isHopeless) return endTry(false);
  if (!m_now.isWhole()) return;
  const double gain = m_tried > m_kept ? 1 : kGain;
  endTry(m_now.meanMs() < gain * m_recentMs);
}

void ThreadPolicy::ran(double ms) {
  if (m_tried != 0) return ranTry(ms);
  // The fastest run of all threads is what they can do, whatever was expected.
  if (m_kept == m_all) m_expectedMs = std::min(m_expectedMs.value_or(ms), ms);
  m_now.add(ms);
  if (!m_now.isWhole()) return;
  m_recentMs = m_now.meanMs();
  m_now = {};
  if (++m_sinceTry < m_patience) return;
  m_tried = nextTry();
  m_sinceTry = 0;
}

}  // namespace fusescope
