#include "engine/tactics/serving_trial.h"

#include <algorithm>

#include "base/random_numbers.h"

namespace fusescope {

/// Each of the two engines answers one call of each pair, in a pseudorandom order, because a scheduler that
/// periodically interrupts the process must not always hit the same engine.
ServedBy ServingTrial::turn() const {
  const bool specialisedIsFirst = RandomNumbers(static_cast<std::uint64_t>(m_calls / 2)).next() % 2 != 0;
  return (m_calls % 2 == 0) == specialisedIsFirst ? ServedBy::Specialised : ServedBy::General;
}

void ServingTrial::ran(double ms, bool disturbed) {
  Side& side = turn() == ServedBy::General ? m_general : m_specialised;
  const bool counts = side.isSettled();
  ++m_calls;
  ++side.calls;
  side.ms += ms;
  if (!counts) return;
  if (disturbed && m_disturbed < kMostDisturbed) {
    ++m_disturbed;
    return;
  }
  side.samples.push_back(ms);
}

std::optional<KernelTime> ServingTrial::Side::time() const {
  return samples.empty() ? std::nullopt : std::optional(timeOf(samples));
}

ServingTrial::Verdict ServingTrial::verdict() const {
  const std::size_t calls = std::min(m_general.samples.size(), m_specialised.samples.size());
  if (calls < kLeastCalls) return Verdict::Open;
  const KernelTime general = *m_general.time(), specialised = *m_specialised.time();
  if (specialised.isClearlyBelow(general)) return Verdict::Faster;
  if (general.isClearlyBelow(specialised) || calls >= kMostCalls) return Verdict::NotFaster;
  return Verdict::Open;
}

}  // namespace fusescope
