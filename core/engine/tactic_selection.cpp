#include "engine/tactic_selection.h"

#include <algorithm>

namespace fusescope {
namespace {

using Times = std::span<const std::optional<KernelTime>>;

/// The fastest of those that `isOne` says; nothing if none has a time.
template <class Predicate>
const KernelTime* fastest(Times times, const Predicate& isOne) {
  const KernelTime* best = nullptr;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] && isOne(i) && (best == nullptr || times[i]->ms < best->ms)) best = &*times[i];
  return best;
}

bool isSameKernel(const Tactic& a, const Tactic& b) {
  return a.implementation == b.implementation && a.parameters == b.parameters;
}

}  // namespace

std::vector<std::optional<TacticCost>> costsOf(std::span<const Tactic> tactics, Times times, double margin) {
  const auto isUnfused = [&](std::size_t i) { return tactics[i].implementation == kUnfused; };
  const KernelTime* fused = fastest(times, [&](std::size_t i) { return !isUnfused(i); });
  const auto isAllowed = [&](std::size_t i) {
    if (!isUnfused(i) || fused == nullptr) return true;
    return times[i]->isClearlyBelow(*fused) && times[i]->ms < fused->ms * (1 - margin);
  };
  std::vector<std::optional<TacticCost>> costs(tactics.size());
  std::optional<std::size_t> guess, last;
  std::size_t place = 0;  // of the kernel in the backend's order
  for (std::size_t i = 0; i < tactics.size(); ++i) {
    if (!times[i] || !isAllowed(i)) continue;
    if (!guess) guess = i;
    if (last && !isSameKernel(tactics[*last], tactics[i])) ++place;
    last = i;
    costs[i] = TacticCost{times[i]->ms, isSameKernel(tactics[*guess], tactics[i]) ? 0 : place};
  }
  if (!guess) costs.front() = TacticCost();
  return costs;
}

std::vector<std::optional<TacticCost>> costsUnmeasured(std::span<const Tactic> tactics) {
  std::vector<std::optional<TacticCost>> costs(tactics.size());
  for (std::size_t i = 0; i < tactics.size(); ++i)
    if (isSameKernel(tactics[i], tactics[0])) costs[i] = TacticCost();
  return costs;
}

}  // namespace fusescope
