#include "passes/extent_bounds.h"

#include <algorithm>

namespace fusescope {
namespace {

constexpr std::size_t kMostBoundNodes = 400'000;  // limit of typed nodes in all trials together
constexpr std::size_t kFewestBounds = 12, kMostBounds = 200;
constexpr std::int64_t kCoarsest = 32;

/// Returns the largest power of two, at most kCoarsest, of which `value` is a multiple.
std::int64_t stepOf(std::int64_t value) {
  std::int64_t step = 1;
  while (step < kCoarsest && value % (2 * step) == 0) step *= 2;
  return step;
}

class Search {
 public:
  Search(const InputSymbols& symbols, const ExtentTrial& trial, const FoundExtents& found, const StopToken& stop)
      : m_symbols(symbols),
        m_trial(trial),
        m_found(found),
        m_stop(stop),
        m_mostTries(
            std::clamp(kMostBoundNodes / std::max<std::size_t>(trial.nodeCount(), 1), kFewestBounds, kMostBounds)) {}

  /// Searches towards the min or the max of each symbol.
  Result<std::vector<ExtentBound>> towards(std::int64_t InputSymbol::*end) {
    std::vector<std::int64_t> usual = m_found.values;
    for (std::size_t i = 0; i < usual.size(); ++i)
      if (isFree(i, end)) usual[i] = m_symbols.all()[i].*end;
    std::vector<ExtentBound> bounds;
    if (TRY(works(usual))) {
      for (const std::int64_t value : usual) bounds.push_back({value, {}, {}});
      return bounds;
    }
    // One symbol follows the other, each with the bounds found before, so that all of them work together.
    std::vector<std::int64_t> values = m_found.values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      bounds.push_back({values[i], {}, {}});
      if (!isFree(i, end)) continue;
      bounds.back() = TRY(boundOf(values, {i}, m_symbols.all()[i].*end));
      values[i] = bounds.back().value;
    }
    TRY(movePairs(values, bounds, end));
    return bounds;
  }

 private:
  /// A value that the user gave is not changed.
  bool isFree(std::size_t i, std::int64_t InputSymbol::*end) const {
    const InputSymbol& symbol = m_symbols.all()[i];
    const bool beyond = end == &InputSymbol::min ? symbol.min < m_found.values[i] : symbol.max > m_found.values[i];
    return !symbol.given && beyond;
  }

  /// Moves pairs of symbols that could not be changed separately.
  Status movePairs(std::vector<std::int64_t>& values, std::vector<ExtentBound>& bounds,
                   std::int64_t InputSymbol::*end) {
    const auto isStuck = [&](std::size_t i) { return isFree(i, end) && bounds[i].value == m_found.values[i]; };
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t j = i + 1; j < values.size() && isStuck(i); ++j) {
        if (!isStuck(j) || values[i] != values[j]) continue;
        const std::int64_t ends[] = {m_symbols.all()[i].*end, m_symbols.all()[j].*end};
        const bool down = ends[0] < values[i];
        const ExtentBound bound = TRY(boundOf(values, {i, j}, down ? std::ranges::max(ends) : std::ranges::min(ends)));
        if (bound.value == values[i]) continue;
        bounds[i] = bounds[j] = bound;
        values[i] = values[j] = bound.value;
      }
    }
    return Done{};
  }

  Result<bool> works(const std::vector<std::int64_t>& values) {
    ++m_tries;
    m_problem.clear();
    m_holder.reset();
    const auto types = m_symbols.types(values);
    if (!types) {
      m_problem = "an extent of an input would be negative";
      return false;
    }
    const auto misfit = TRY(m_trial.misfit(*types, m_found.branches, m_stop));
    if (!misfit) return true;
    m_problem = problemOf(misfit->error);
    m_holder = misfit->holder();
    return false;
  }

  /// Returns the value nearest to `end` of the equal symbols `moved` that works together with the others in `values`.
  Result<ExtentBound> boundOf(std::vector<std::int64_t> values, const std::vector<std::size_t>& moved,
                              std::int64_t end) {
    const std::int64_t found = values[moved.front()];
    for (const std::size_t i : moved) values[i] = end;
    if (TRY(works(values))) return ExtentBound{end, {}, {}};
    ExtentBound bound{found, m_problem, m_holder};
    std::int64_t beyond = end;
    for (std::int64_t step = stepOf(found); step >= 1; step /= 2) TRY(halve(values, moved, bound, beyond, step));
    return bound;
  }

  /// Brings `bound`, which works, and `beyond`, which does not, together as far as multiples of `step` allow.
  Status halve(std::vector<std::int64_t>& values, const std::vector<std::size_t>& moved, ExtentBound& bound,
               std::int64_t& beyond, std::int64_t step) {
    while (m_tries < m_mostTries) {
      const std::int64_t steps = (beyond - bound.value) / step / 2;
      const std::int64_t middle = bound.value + (steps != 0 ? steps : beyond > bound.value ? 1 : -1) * step;
      if (beyond > bound.value ? middle >= beyond : middle <= beyond) break;
      for (const std::size_t i : moved) values[i] = middle;
      if (TRY(works(values))) {
        bound.value = middle;
      } else {
        beyond = middle;
        bound.problem = m_problem;
        bound.holder = m_holder;
      }
    }
    return Done{};
  }

  const InputSymbols& m_symbols;
  const ExtentTrial& m_trial;
  const FoundExtents& m_found;
  const StopToken& m_stop;
  const std::size_t m_mostTries;
  std::size_t m_tries = 0;
  std::string m_problem;  ///< of the last try
  std::optional<std::size_t> m_holder;
};

}  // namespace

Result<ExtentBounds> extentBounds(const InputSymbols& symbols, const ExtentTrial& trial, const FoundExtents& found,
                                  const StopToken& stop) {
  ExtentBounds bounds;
  bounds.least = TRY(Search(symbols, trial, found, stop).towards(&InputSymbol::min));
  bounds.most = TRY(Search(symbols, trial, found, stop).towards(&InputSymbol::max));
  return bounds;
}

}  // namespace fusescope
