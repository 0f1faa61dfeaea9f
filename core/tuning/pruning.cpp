#include "tuning/pruning.h"

#include <algorithm>

#include "tuning/baselines.h"

namespace fusescope {
namespace {

class Pruning {
 public:
  Pruning(Evaluations& evaluations, TunePoint start, std::span<const std::uint32_t> order,
          const std::optional<PlanCost>& most)
      : m_evaluations(evaluations), m_current(std::move(start)), m_order(order), m_most(most) {}

  Result<TunePoint> run() {
    m_evaluations.oracle().expectSetsNear(m_current.pins);
    const std::vector<PinSet> groups = pinnedGroups();
    for (std::size_t size = groups.size() / 2; size >= 1; size /= 2) TRY(dropOnce(groups, size));
    TRY(dropWithoutEffect());
    while (TRY(dropOnce(singleNodes(), 1))) continue;
    return m_current;
  }

 private:
  /// Returns the groups of pinned nodes, in the order in which their first node is to be removed.
  std::vector<PinSet> pinnedGroups() const {
    std::vector<PinSet> groups;
    PinSet seen;
    std::vector<const PinSet*> groupOf(m_evaluations.oracle().nodeCount());
    for (const PinSet& group : m_evaluations.oracle().groups())
      for (const std::uint32_t node : group) groupOf[node] = &group;
    for (const std::uint32_t node : m_order) {
      if (!m_current.pins.contains(node) || seen.contains(node)) continue;
      PinSet pinned;
      std::ranges::set_intersection(*groupOf[node], m_current.pins, std::inserter(pinned, pinned.end()));
      seen.insert(pinned.begin(), pinned.end());
      groups.push_back(std::move(pinned));
    }
    return groups;
  }

  std::vector<PinSet> singleNodes() const {
    std::vector<PinSet> nodes;
    for (const std::uint32_t node : m_order)
      if (m_current.pins.contains(node)) nodes.push_back({node});
    return nodes;
  }

  /// Tries once to remove each `size` units. Returns whether any were removed.
  Result<bool> dropOnce(const std::vector<PinSet>& units, std::size_t size) {
    bool dropped = false;
    for (std::size_t begin = 0; begin < units.size(); begin += size) {
      PinSet going;
      for (std::size_t i = begin; i < std::min(begin + size, units.size()); ++i)
        going.insert(units[i].begin(), units[i].end());
      PinSet left = pinsWithout(m_current.pins, going);
      if (left.size() == m_current.pins.size()) continue;
      const TunePoint without = TRY(m_evaluations.evaluate(left));
      if (!m_evaluations.meets(without) || (m_most && cheaper(*m_most, without.cost))) continue;
      m_current = without;
      m_evaluations.oracle().expectSetsNear(m_current.pins);
      dropped = true;
    }
    return dropped;
  }

  /// Removes pins that change nothing besides the others.
  Status dropWithoutEffect() {
    const Hash128 effect = TRY(m_evaluations.plan(m_current.pins)).effect;
    for (const std::uint32_t node : m_order) {
      if (!m_current.pins.contains(node)) continue;
      const PinSet left = pinsWithout(m_current.pins, {node});
      if (TRY(m_evaluations.plan(left)).effect == effect) m_current = TRY(m_evaluations.evaluate(left));
    }
    return Done{};
  }

  Evaluations& m_evaluations;
  TunePoint m_current;
  std::span<const std::uint32_t> m_order;
  const std::optional<PlanCost>& m_most;
};

}  // namespace

Result<TunePoint> pruned(Evaluations& evaluations, const TunePoint& pins, std::span<const std::uint32_t> order,
                         const std::optional<PlanCost>& most) {
  return Pruning(evaluations, pins, order, most).run();
}

}  // namespace fusescope
