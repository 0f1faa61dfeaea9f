#include "engine/tactics/tactic_selection.h"

#include <fmt/format.h>

#include <algorithm>

namespace fusescope {
namespace {

using Times = std::span<const std::optional<KernelTime>>;

/// Returns the fastest of the tactics for which `isOne` is true; nullopt if none of them has a time.
template <class Predicate>
const KernelTime* fastest(Times times, const Predicate& isOne) {
  const KernelTime* best = nullptr;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] && isOne(i) && (best == nullptr || times[i]->ms < best->ms)) best = &*times[i];
  return best;
}

/// The smallest gain at which two tactics count as different: the error of times on quiet machines.
constexpr double kLeastGain = 0.03;

/// Returns whether tactic `i` is faster than `k` at every moment, by more than the spread of their best times.
bool isFaster(std::span<const MeasuredMoment> moments, Times best, std::size_t i, std::size_t k) {
  const bool isAlways = std::ranges::all_of(
      moments, [&](const MeasuredMoment& moment) { return !moment[i] || !moment[k] || moment[i]->ms < moment[k]->ms; });
  return isAlways && best[i]->isClearlyBelow(*best[k]) && best[i]->ms < best[k]->ms * (1 - kLeastGain);
}

bool isSameKernel(const Tactic& a, const Tactic& b) {
  return a.implementation == b.implementation && a.parameters == b.parameters;
}

}  // namespace

std::vector<std::optional<KernelTime>> distinguishedTimes(std::span<const MeasuredMoment> moments) {
  MeasuredMoment best;
  for (const MeasuredMoment& moment : moments) {
    best.resize(moment.size());
    for (std::size_t i = 0; i < moment.size(); ++i)
      if (moment[i] && (!best[i] || moment[i]->ms < best[i]->ms)) best[i] = moment[i];
  }
  MeasuredMoment distinguished = best;
  std::vector<std::size_t> distinct;  // the tactics that differ from all tactics that are preferred to them
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (!best[i]) continue;
    const auto equal = std::ranges::find_if(
        distinct, [&](std::size_t k) { return !isFaster(moments, best, i, k) && !isFaster(moments, best, k, i); });
    if (equal == distinct.end()) {
      distinct.push_back(i);
    } else {
      distinguished[i] = best[*equal];
    }
  }
  return distinguished;
}

const KernelTime* fastestTime(Times times) {
  return fastest(times, [](std::size_t) { return true; });
}

double savedShare(Times times) {
  const std::optional<KernelTime>& first = times.front();
  if (!first || first->ms <= 0) return 0;
  double share = 0;
  for (const auto& time : times)
    if (time && time->isClearlyBelow(*first)) share = std::max(share, 1 - time->ms / first->ms);
  return share;
}

std::optional<Decision> disturbance(std::span<const KernelTime> times) {
  std::int64_t disturbed = 0;
  double longer = 0;
  for (const KernelTime& time : times) {
    if (time.quiet || time.ms <= 0) continue;
    ++disturbed;
    longer += time.median / time.ms;
  }
  if (disturbed == 0) return std::nullopt;
  return decide("build.disturbed", {}, "times",
                {{"disturbed", disturbed},
                 {"measured", times.size()},
                 {"times", fmt::format("{:.1f}", longer / static_cast<double>(disturbed))}});
}

std::vector<std::optional<TacticCost>> costsOf(std::span<const Tactic> tactics, Times times, double margin) {
  const auto isUnfused = [&](std::size_t i) { return tactics[i].implementation == kUnfused; };
  const KernelTime* fused = fastest(times, [&](std::size_t i) { return !isUnfused(i); });
  const auto isAllowed = [&](std::size_t i) {
    if (!isUnfused(i) || fused == nullptr) return true;
    return times[i]->isClearlyBelow(*fused) && times[i]->ms < fused->ms * (1 - margin);
  };
  std::vector<std::optional<TacticCost>> costs(tactics.size());
  std::optional<std::size_t> guess, last;
  std::size_t place = 0;  // the index of the kernel in the backend's order
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

std::vector<std::optional<TacticCost>> costsUnmeasured(std::span<const Tactic> tactics, double ms) {
  std::vector<std::optional<TacticCost>> costs(tactics.size());
  for (std::size_t i = 0; i < tactics.size(); ++i)
    if (isSameKernel(tactics[i], tactics[0])) costs[i] = TacticCost{.ms = ms};
  return costs;
}

std::vector<std::optional<TacticCost>> assumedCosts(std::span<const Tactic> tactics, Times times,
                                                    std::vector<std::optional<TacticCost>> costs) {
  std::optional<TacticCost> least;
  for (const auto& cost : costs)
    if (cost && (!least || cost->ms < least->ms)) least = cost;
  for (std::size_t i = 0; i < tactics.size(); ++i)
    if (!costs[i] && !times[i] && tactics[i].implementation != kUnfused) costs[i] = least;
  return costs;
}

}  // namespace fusescope
