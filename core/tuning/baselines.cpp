#include "tuning/baselines.h"

#include <algorithm>

namespace fusescope {
namespace {

/// The maximum number of rankings; each evaluates all remaining groups.
constexpr int kMostRankings = 3;

PinSet range(std::uint32_t begin, std::uint32_t end) {
  PinSet pins;
  for (std::uint32_t i = begin; i < end; ++i) pins.insert(pins.end(), i);
  return pins;
}

/// Returns the groups that are not pinned yet, the one first that leaves the smallest error together with `pins`.
Result<std::vector<std::uint32_t>> ranked(Evaluations& evaluations, const PinSet& pins,
                                          std::vector<std::uint32_t> groups) {
  std::map<std::uint32_t, double> errors;
  for (const std::uint32_t group : groups)
    errors[group] = TRY(evaluations.evaluate(joinedPins(pins, evaluations.oracle().groups()[group]))).error;
  std::ranges::stable_sort(groups, {}, [&](std::uint32_t group) { return errors.at(group); });
  return groups;
}

}  // namespace

PinSet joinedPins(PinSet a, const PinSet& b) {
  a.insert(b.begin(), b.end());
  return a;
}

PinSet pinsWithout(PinSet a, const PinSet& b) {
  std::erase_if(a, [&](std::uint32_t node) { return b.contains(node); });
  return a;
}

Result<std::optional<TunePoint>> bisect(Evaluations& evaluations, std::size_t count,
                                        const std::function<PinSet(std::size_t)>& setOf) {
  std::size_t few = 0, enough = count;  // 0 may be enough, too
  std::optional<TunePoint> found;
  for (std::size_t tried = count;; tried = few + (enough - few) / 2) {
    const TunePoint point = TRY(evaluations.evaluate(setOf(tried)));
    if (evaluations.meets(point)) {
      found = point;
      enough = tried;
    } else if (tried == count) {
      return found;
    } else {
      few = tried + 1;
    }
    if (few >= enough) return found;
  }
}

Result<std::optional<TunePoint>> prefixBaseline(Evaluations& evaluations) {
  return bisect(evaluations, evaluations.oracle().nodeCount(),
                [](std::size_t count) { return range(0, static_cast<std::uint32_t>(count)); });
}

Result<std::optional<TunePoint>> suffixBaseline(Evaluations& evaluations) {
  const std::uint32_t all = evaluations.oracle().nodeCount();
  return bisect(evaluations, all,
                [all](std::size_t count) { return range(all - static_cast<std::uint32_t>(count), all); });
}

Result<std::optional<TunePoint>> greedyBaseline(Evaluations& evaluations) {
  const auto& groups = evaluations.oracle().groups();
  std::vector<std::uint32_t> left(groups.size());
  for (std::uint32_t i = 0; i < left.size(); ++i) left[i] = i;
  TunePoint current = TRY(evaluations.evaluate({}));
  left = TRY(ranked(evaluations, {}, left));
  std::vector<std::uint32_t> leftOut;
  for (int rankings = 1; !evaluations.meets(current) && !(left.empty() && leftOut.empty());) {
    if (left.empty()) left.swap(leftOut);
    const std::uint32_t first = left.front();
    left.erase(left.begin());
    const TunePoint next = TRY(evaluations.evaluate(joinedPins(current.pins, groups[first])));
    const bool isWorse = next.error > current.error;
    if (isWorse && rankings < kMostRankings) {
      leftOut.push_back(first);
      left = TRY(ranked(evaluations, current.pins, left));
      ++rankings;
      continue;
    }
    evaluations.oracle().expectSetsNear(next.pins);
    current = next;
  }
  return evaluations.meets(current) ? std::optional(current) : std::nullopt;
}

}  // namespace fusescope
