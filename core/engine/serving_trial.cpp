#include "engine/serving_trial.h"

#include <algorithm>

namespace fusescope {

ServedBy ServingTrial::turn() const {
  const int place = m_calls % 4;
  return place == 0 || place == 3 ? ServedBy::General : ServedBy::Specialised;
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
