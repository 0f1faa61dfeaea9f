#include "tuning/tune_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random_numbers.h"
#include "tuning/baselines.h"
#include "tuning/pruning.h"

namespace fusescope {
namespace {

constexpr int kOrders = 3;  ///< the number of other orders in which pins are removed
/// The standard deviation of the noise that is added to the logarithm by which groups are ordered.
constexpr double kOrderNoise = 1;

struct KnownSearch {
  std::string_view name;
  Result<std::optional<TunePoint>> (*run)(Evaluations&);
};
constexpr KnownSearch kKnownSearches[] = {
    {"prefix", prefixBaseline}, {"suffix", suffixBaseline}, {"greedy", greedyBaseline}};

class TuneSearch {
 public:
  TuneSearch(TuneOracle& oracle, const TuneGoal& goal, TuneMemory& memory, const OnBetter& onBetter)
      : m_oracle(oracle), m_goal(goal), m_evaluations(oracle, goal, memory, onBetter), m_random(goal.seed) {}

  Result<TuneResult> run() {
    TRY(unlessCancelled(search()));
    m_result.evaluations = m_evaluations.count();
    if (!m_finished) {
      m_result.end = m_evaluations.end();
      if (m_goal.baselines && m_result.end != TuneEnd::Stopped) {
        m_evaluations.renewLimits();
        TRY(unlessCancelled(runBaselines()));
      }
      if (m_evaluations.best()) TRY(findNoSlower(Evaluations::Ask::Known));
    }
    return result();
  }

 private:
  static Status unlessCancelled(Status status) {
    if (!status.ok() && !status.error().cancelled) return status;
    return Done{};
  }

  ///
  /// 1. Evaluates nothing pinned and everything pinned, to see whether there is anything to find.
  /// 2. Measures the effect of lowering each group alone, and the cost of pinning it.
  /// 3. Finds sets that are good enough in several ways, and makes each as small as possible.
  /// 4. Does the same in other orders.
  /// 5. Ensures that the result is not slower, by known times, than the result of another method or than everything
  /// pinned.
  Status search() {
    m_result.allPinned = TRY(m_evaluations.evaluate(all()));
    m_evaluations.setAllPinned(m_result.allPinned);
    m_result.unpinned = TRY(m_evaluations.evaluate({}));
    if (m_goal.maxError && m_evaluations.meets(m_result.unpinned) && !beats(m_result.allPinned, m_result.unpinned))
      return finished();
    TRY(scoreGroups());
    if (!m_goal.maxError) TRY(spendTime());
    const std::vector<double> byError = m_scores;
    TRY(smallestOf(nodeOrder(byError), groupOrder(byError)));
    TRY(runBaselines());
    TRY(smallestOf(nodeOrder(byError), TRY(orderByCost())));
    for (const TuneBaseline& baseline : m_result.baselines)
      if (baseline.found) TRY(pruned(m_evaluations, *baseline.found, nodeOrder(byError)));
    for (int i = 0; i < kOrders; ++i) {
      std::vector<double> shaken = m_scores;
      for (double& score : shaken) score *= std::exp(kOrderNoise * m_random.normal());
      TRY(smallestOf(nodeOrder(shaken), groupOrder(shaken)));
    }
    if (m_evaluations.best()) TRY(findNoSlower(Evaluations::Ask::Reference));
    if (m_noSlower) TRY(pruneNoSlower(nodeOrder(byError)));
    return finished();
  }

  Status finished() {
    m_finished = true;
    return Done{};
  }

  PinSet all() const {
    PinSet pins;
    for (std::uint32_t i = 0; i < m_oracle.nodeCount(); ++i) pins.insert(pins.end(), i);
    return pins;
  }

  const PinSet& group(std::uint32_t index) const { return m_oracle.groups()[index]; }
  std::uint32_t groupCount() const { return static_cast<std::uint32_t>(m_oracle.groups().size()); }

  /// Measures the network's error if only this group is lowered, so that each of several groups that overflow is seen.
  Status scoreGroups() {
    m_oracle.expectSetsNear(all());
    for (std::uint32_t i = 0; i < groupCount(); ++i)
      m_scores.push_back(TRY(m_evaluations.evaluate(pinsWithout(all(), group(i)))).error);
    m_oracle.expectSetsNear({});
    return Done{};
  }

  std::vector<std::uint32_t> groupOrder(const std::vector<double>& scores) const {
    std::vector<std::uint32_t> order(groupCount());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::uint32_t i) { return scores[i]; });
    return order;
  }

  /// Returns the nodes in the order in which pins are removed: those of the least harmful groups first.
  std::vector<std::uint32_t> nodeOrder(const std::vector<double>& scores) const {
    std::vector<std::uint32_t> groups = groupOrder(scores), order;
    std::ranges::reverse(groups);
    for (const std::uint32_t i : groups) order.insert(order.end(), group(i).begin(), group(i).end());
    return order;
  }

  /// Returns a cost as one number: the time if all plans between both extremes have one, otherwise bytes or
  /// conversions.
  double inOneNumber(const PlanCost& cost) const {
    const bool timed = m_result.unpinned.cost.unknown == 0 && m_result.allPinned.cost.unknown == 0;
    return timed ? cost.ms : static_cast<double>(cost.bytes.value_or(cost.casts));
  }

  /// Returns the groups by harm divided by the cost of pinning them with what is pinned already, because casts between
  /// neighbours disappear.
  Result<std::vector<std::uint32_t>> orderByCost() {
    const double range = std::fabs(inOneNumber(m_result.allPinned.cost) - inOneNumber(m_result.unpinned.cost));
    const double least = std::max(1e-6, 1e-3 * range / std::max(1U, groupCount()));
    PinSet pins;
    double cost = inOneNumber(m_result.unpinned.cost);
    std::vector<double> worth(groupCount());
    const auto weigh = [&](std::uint32_t i) -> Status {
      const PinnedPlan with = TRY(m_evaluations.plan(joinedPins(pins, group(i))));
      worth[i] = m_scores[i] * m_scores[i] / std::max(least, inOneNumber(with.cost) - cost);
      return Done{};
    };
    std::set<std::uint32_t> left;
    for (std::uint32_t i = 0; i < groupCount(); ++i) {
      left.insert(left.end(), i);
      TRY(weigh(i));
    }
    std::vector<std::uint32_t> order;
    while (!left.empty()) {
      const std::uint32_t best = *std::ranges::max_element(left, {}, [&](std::uint32_t i) { return worth[i]; });
      order.push_back(best);
      left.erase(best);
      pins = joinedPins(std::move(pins), group(best));
      cost = inOneNumber(TRY(m_evaluations.plan(pins)).cost);
      for (const std::uint32_t neighbour : m_oracle.neighbours()[best])
        if (left.contains(neighbour)) TRY(weigh(neighbour));
    }
    return order;
  }

  /// Takes the first groups of an order, as many as are needed, and then as few of them as possible.
  Status smallestOf(const std::vector<std::uint32_t>& dropped, const std::vector<std::uint32_t>& groups) {
    const auto first = [&](std::size_t count) {
      PinSet pins;
      for (std::size_t i = 0; i < count; ++i) pins.insert(group(groups[i]).begin(), group(groups[i]).end());
      return pins;
    };
    const auto found = TRY(bisect(m_evaluations, groups.size(), first));
    if (found) TRY(pruned(m_evaluations, *found, dropped));
    return Done{};
  }

  /// Continues the methods that did not come to their end.
  Status runBaselines() {
    for (const KnownSearch& known : kKnownSearches) {
      auto place = std::ranges::find(m_result.baselines, known.name, &TuneBaseline::name);
      if (place == m_result.baselines.end()) {
        m_result.baselines.push_back({.name = std::string(known.name), .found = std::nullopt});
        place = std::prev(m_result.baselines.end());
      } else if (place->end == TuneEnd::Finished) {
        continue;
      }
      m_evaluations.takeAsked();
      auto found = known.run(m_evaluations);
      place->evaluations = m_evaluations.takeAsked();
      place->end = found.ok() ? TuneEnd::Finished : m_evaluations.end();
      place->found = TRY(std::move(found));
    }
    return Done{};
  }

  /// If only a speed-up is asked for, pins the most harmful groups as long as it is reached. The remaining error is the
  /// bound from then on.
  Status spendTime() {
    PinSet pins;
    for (const std::uint32_t i : TRY(orderByCost())) {
      const PinSet more = joinedPins(pins, group(i));
      const PinnedPlan plan = TRY(m_evaluations.plan(more));
      if (!m_evaluations.meets({more, 0, plan.cost})) continue;
      pins = more;
      TRY(m_evaluations.evaluate(pins));
    }
    if (m_evaluations.best()) m_evaluations.setMaxError(m_evaluations.best()->error);
    return Done{};
  }

  const TuneBaseline* bestBaseline() const {
    const TuneBaseline* best = nullptr;
    for (const TuneBaseline& baseline : m_result.baselines)
      if (baseline.found && (best == nullptr || m_evaluations.better(*baseline.found, *best->found))) best = &baseline;
    return best;
  }

  static bool isFaster(const PlanCost& a, const PlanCost& b) {
    return a.unknown == 0 && b.unknown == 0 && cheaper(a, b);
  }

  /// If the best baseline, or everything pinned, is faster than the best set, finds the best evaluated set that is not
  /// slower than either.
  Status findNoSlower(Evaluations::Ask ask) {
    const TunePoint best = *m_evaluations.best();
    if (beats(m_result.allPinned, best) && TRY(m_evaluations.meetsOnReference(m_result.allPinned, ask)))
      m_result.beatenByAllPinned = best;
    std::vector<TunePoint> faster;
    if (const TuneBaseline* baseline = bestBaseline()) faster.push_back(*baseline->found);
    faster.push_back(m_result.allPinned);
    std::erase_if(faster, [&](const TunePoint& point) {
      return !m_evaluations.meets(point) || !isFaster(point.cost, best.cost);
    });
    std::ranges::sort(faster, [](const TunePoint& a, const TunePoint& b) { return cheaper(a.cost, b.cost); });
    for (TunePoint& limit : faster) {  // an evaluation that fails on the reference is not a limit
      if (!TRY(m_evaluations.meetsOnReference(limit, ask))) continue;
      m_noSlower = limit;
      m_result.noSlowerThan = limit.cost;
      break;
    }
    if (!m_noSlower) return Done{};
    for (TunePoint point : m_evaluations.front()) {
      const bool better = m_evaluations.meets(point) && !cheaper(*m_result.noSlowerThan, point.cost) &&
                          m_evaluations.better(point, *m_noSlower);
      if (better && TRY(m_evaluations.meetsOnReference(point, ask))) m_noSlower = point;
    }
    return Done{};
  }

  /// Makes it smaller, in two ways.
  Status pruneNoSlower(const std::vector<std::uint32_t>& order) {
    std::vector<TunePoint> starts{*m_noSlower};
    const TuneBaseline* baseline = bestBaseline();
    if (baseline != nullptr && !cheaper(*m_result.noSlowerThan, baseline->found->cost))
      starts.push_back(*baseline->found);
    m_evaluations.checkAllOnReference(true);
    for (TunePoint& from : starts) {
      if (!TRY(m_evaluations.meetsOnReference(from, Evaluations::Ask::Reference))) continue;
      const TunePoint small = TRY(pruned(m_evaluations, from, order, m_result.noSlowerThan));
      if (m_evaluations.better(small, *m_noSlower)) m_noSlower = small;
    }
    m_evaluations.checkAllOnReference(false);
    return Done{};
  }

  /// Returns whether `a` is faster than `b` (by known times) and has at most the same error.
  static bool beats(const TunePoint& a, const TunePoint& b) { return isFaster(a.cost, b.cost) && a.error <= b.error; }

  TuneResult result() {
    m_result.ok = m_evaluations.best().has_value();
    if (m_result.ok) {
      m_result.chosen = m_noSlower.value_or(*m_evaluations.best());
    } else if (m_evaluations.leastError()) {
      m_result.chosen = *m_evaluations.leastError();
      if (beats(m_result.allPinned, m_result.chosen)) m_result.chosen = m_result.allPinned;
    }
    auto& beaten = m_result.beatenByAllPinned;
    // If the chosen set is better by the order of results, it is not beaten.
    if (beaten && !m_evaluations.better(*beaten, m_result.chosen)) beaten.reset();
    m_result.minimal = m_result.ok;
    for (const std::uint32_t pin : m_result.chosen.pins) {
      const auto without = m_evaluations.known(pinsWithout(m_result.chosen.pins, {pin}));
      const bool slower = without && m_result.noSlowerThan && cheaper(*m_result.noSlowerThan, without->cost);
      if (without) m_result.without.push_back({pin, without->error, slower});
      if (!without || (m_evaluations.meets(*without) && !slower)) m_result.minimal = false;
    }
    m_result.front = m_evaluations.front();
    return std::move(m_result);
  }

  TuneOracle& m_oracle;
  TuneGoal m_goal;
  Evaluations m_evaluations;
  RandomNumbers m_random;
  TuneResult m_result;
  std::vector<double> m_scores;  ///< indexed by group
  std::optional<TunePoint> m_noSlower;
  bool m_finished = false;
};

}  // namespace

Result<TuneResult> tuneSearch(TuneOracle& oracle, const TuneGoal& goal, TuneMemory& memory, const OnBetter& onBetter) {
  return TuneSearch(oracle, goal, memory, onBetter).run();
}

}  // namespace fusescope
