#include "engine/serving_trial.h"

#include <algorithm>

namespace fusescope {

ServedBy ServingTrial::turn() const {
  const int place = m_calls % 4;
  return place == 0 || place == 3 ? ServedBy::General : ServedBy::Specialised;
}

void ServingTrial::ran(double ms, bool disturbed) {
  const ServedBy engine = turn();
  const bool isFirst = m_calls < 2;
  ++m_calls;
  if (isFirst) return;
  if (disturbed && m_disturbed < kMostDisturbed) {
    ++m_disturbed;
    return;
  }
  samplesOf(engine).push_back(ms);
}

std::optional<KernelTime> ServingTrial::timeBy(ServedBy engine) const {
  const std::vector<double>& samples = engine == ServedBy::General ? m_general : m_specialised;
  return samples.empty() ? std::nullopt : std::optional(timeOf(samples));
}

ServingTrial::Verdict ServingTrial::verdict() const {
  const std::size_t calls = std::min(m_general.size(), m_specialised.size());
  if (calls < kLeastCalls) return Verdict::Open;
  const KernelTime general = timeOf(m_general), specialised = timeOf(m_specialised);
  if (specialised.isClearlyBelow(general)) return Verdict::Faster;
  if (general.isClearlyBelow(specialised) || calls >= kMostCalls) return Verdict::NotFaster;
  return Verdict::Open;
}

}  // namespace fusescope
