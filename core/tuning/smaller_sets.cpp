#include "tuning/smaller_sets.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

namespace fusescope {
namespace {

/// No more sets of one size are kept, because so many could not all be tried.
constexpr std::size_t kMostSets = 4096;

class SmallerSearch {
 public:
  SmallerSearch(const SwitchSet& known, const SwitchPlaces& places, const ErrorWithout& errorWithout, double tolerance)
      : m_places(places), m_errorWithout(errorWithout), m_tolerance(tolerance) {
    m_best.off = known;
  }

  Result<SmallerSet> run() {
    TRY(searchElsewhere());
    if (!m_isOver) TRY(tryTogether());
    return std::move(m_best);
  }

 private:
  bool isSmallEnough() const { return m_best.off.size() <= 1; }

  Result<bool> does(const SwitchSet& off) {
    auto error = m_errorWithout(off);
    m_isOver = m_isOver || (!error.ok() && error.error().cancelled);
    if (m_isOver) return false;
    return TRY(std::move(error)) <= m_tolerance;
  }

  /// Searches sets without common switches with those that were found.
  Status searchElsewhere() {
    SwitchSet open;
    for (std::uint32_t i = 0; i < m_places.neighbours.size(); ++i) open.push_back(i);
    for (SwitchSet found = m_best.off; !isSmallEnough();) {
      std::erase_if(open, [&](std::uint32_t i) { return std::ranges::binary_search(found, i); });
      if (open.empty() || !TRY(does(open))) return Done{};
      const auto within = [&](const SwitchSet& off) {
        SwitchSet chosen;
        for (const std::uint32_t i : off) chosen.push_back(open[i]);
        return chosen;
      };
      const auto error = [&](const SwitchSet& off) -> Result<double> {
        if (off.empty()) return m_tolerance + 1;
        return m_errorWithout(within(off));
      };
      const Culprits culprits =
          TRY(findCulprits(static_cast<std::uint32_t>(open.size()), error, {.tolerance = m_tolerance}));
      m_isOver = culprits.end == CulpritEnd::OutOfBudget;
      if (culprits.end != CulpritEnd::Found) return Done{};
      found = within(culprits.off);
      if (found.size() < m_best.off.size()) m_best.off = found;
    }
    return Done{};
  }

  Status tryTogether() {
    std::vector<SwitchSet> sets = first();
    for (std::size_t size = 1; size < m_best.off.size(); ++size) {
      for (const SwitchSet& set : sets) {
        if (TRY(does(set))) TRY(settle(set));
        if (m_isOver) return Done{};
        if (m_best.off.size() <= size) break;
      }
      if (size + 1 < m_best.off.size()) {
        auto larger = grown(sets);
        if (!larger) return Done{};
        sets = *std::move(larger);
      }
    }
    m_best.smallest = true;
    return Done{};
  }

  /// Makes a sufficient set the best one, after removing switches that can be left out.
  Status settle(SwitchSet set) {
    for (std::size_t i = 0; i < set.size() && set.size() > 1;) {
      SwitchSet fewer = set;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const bool isEnough = TRY(does(fewer));
      if (m_isOver) return Done{};  // it is unknown whether a switch can be left out
      if (isEnough)
        set = std::move(fewer);
      else
        ++i;
    }
    m_best.off = std::move(set);
    return Done{};
  }

  /// Returns the single switches, those nearest to the best set first.
  std::vector<SwitchSet> first() const {
    std::vector<SwitchSet> sets;
    std::vector<char> isThere(m_places.neighbours.size());
    std::deque<std::uint32_t> next;
    const auto add = [&](std::uint32_t i) {
      if (isThere[i]) return;
      isThere[i] = 1;
      next.push_back(i);
    };
    for (const std::uint32_t i : m_best.off) add(i);
    for (std::uint32_t i = 0; i < m_places.neighbours.size() || !next.empty();) {
      if (next.empty()) {
        add(i++);
        continue;
      }
      const std::uint32_t at = next.front();
      next.pop_front();
      if (m_places.beginnings.empty() || std::ranges::binary_search(m_places.beginnings, at)) sets.push_back({at});
      for (const std::uint32_t neighbour : m_places.neighbours[at]) add(neighbour);
    }
    return sets;
  }

  /// Returns each of the sets with one adjacent switch more, or nothing if there are too many.
  std::optional<std::vector<SwitchSet>> grown(const std::vector<SwitchSet>& sets) const {
    std::vector<SwitchSet> larger;
    std::set<SwitchSet> known;
    for (const SwitchSet& set : sets) {
      SwitchSet beside = m_places.beginnings;
      for (const std::uint32_t i : set)
        beside.insert(beside.end(), m_places.neighbours[i].begin(), m_places.neighbours[i].end());
      for (const std::uint32_t one : beside) {
        if (std::ranges::binary_search(set, one)) continue;
        SwitchSet more = set;
        more.insert(std::ranges::lower_bound(more, one), one);
        if (!known.insert(more).second) continue;
        if (known.size() > kMostSets) return std::nullopt;
        larger.push_back(std::move(more));
      }
    }
    return larger;
  }

  const SwitchPlaces& m_places;
  const ErrorWithout& m_errorWithout;
  double m_tolerance;
  SmallerSet m_best;
  bool m_isOver = false;
};

}  // namespace

Result<SmallerSet> smallerSet(const SwitchSet& known, const SwitchPlaces& places, const ErrorWithout& errorWithout,
                              double tolerance) {
  return SmallerSearch(known, places, errorWithout, tolerance).run();
}

}  // namespace fusescope
