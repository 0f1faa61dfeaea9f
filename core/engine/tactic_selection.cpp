#include "engine/tactic_selection.h"

#include <algorithm>

namespace fusescope {
namespace {

constexpr double kAlike = 1.01;        // times the fastest: not worth a difference, however well it is known
constexpr double kNearlyAlike = 1.03;  // the most that is given away where the samples cannot tell
constexpr double kWorthUnfusing = 0.97;

using Times = std::span<const std::optional<KernelTime>>;

/// The fastest of those that `isOne` says; nothing if none has a time.
template <class Predicate>
const KernelTime* fastest(Times times, const Predicate& isOne) {
  const KernelTime* best = nullptr;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] && isOne(i) && (best == nullptr || times[i]->ms < best->ms)) best = &*times[i];
  return best;
}

bool isAlike(const KernelTime& best, const KernelTime& other) {
  return other.ms <= best.ms * kAlike || (other.ms <= best.ms * kNearlyAlike && !best.isClearlyBelow(other));
}

}  // namespace

std::vector<std::optional<double>> costsOf(std::span<const Tactic> tactics, Times times) {
  const auto isUnfused = [&](std::size_t i) { return tactics[i].implementation == kUnfused; };
  const KernelTime* fused = fastest(times, [&](std::size_t i) { return !isUnfused(i); });
  const auto isAllowed = [&](std::size_t i) {
    if (!isUnfused(i) || fused == nullptr) return true;
    return times[i]->isClearlyBelow(*fused) && times[i]->ms < fused->ms * kWorthUnfusing;
  };
  const KernelTime* best = fastest(times, isAllowed);
  std::vector<std::optional<double>> costs(tactics.size());
  if (best == nullptr) {
    costs.front() = 0;
    return costs;
  }
  for (std::size_t i = 0; i < tactics.size(); ++i)
    if (times[i] && isAllowed(i)) costs[i] = isAlike(*best, *times[i]) ? best->ms : times[i]->ms;
  return costs;
}

std::vector<std::optional<double>> costsUnmeasured(std::span<const Tactic> tactics) {
  std::vector<std::optional<double>> costs(tactics.size());
  for (std::size_t i = 0; i < tactics.size(); ++i)
    if (tactics[i].implementation == tactics[0].implementation && tactics[i].parameters == tactics[0].parameters)
      costs[i] = 0;
  return costs;
}

}  // namespace fusescope
