#include "passes/extent_search.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fusescope {
namespace {

constexpr std::size_t kMostTries = 1200, kFewestTries = 60;
constexpr std::size_t kMostNodes = 400'000;  // limit of typed nodes in all trials together
constexpr std::int64_t kLargestRound = 1024;
constexpr std::size_t kTogether = 20;  // candidates of each of two symbols that are tried together
constexpr std::array<std::int64_t, 6> kStrides{1, 2, 4, 8, 16, 32};  // numbers by which an extent may have been divided

void add(std::vector<std::int64_t>& list, std::int64_t value) {
  if (value >= 1 && std::ranges::find(list, value) == list.end()) list.push_back(value);
}

/// Adds multiples of `step`, beginning with those nearest to `usual` in proportion.
void addMultiples(std::vector<std::int64_t>& list, std::int64_t step, std::int64_t usual, std::int64_t largest) {
  std::vector<std::int64_t> multiples;
  for (std::int64_t value = step; value <= largest; value += step) multiples.push_back(value);
  const auto distance = [&](std::int64_t value) {
    return std::abs(std::log2(static_cast<double>(value) / static_cast<double>(std::max<std::int64_t>(usual, 1))));
  };
  std::ranges::stable_sort(multiples, {}, distance);
  for (const std::int64_t value : multiples) add(list, value);
}

}  // namespace

Dims FoundExtents::tried(const InputSymbols& symbols, std::size_t input) const {
  return symbols.extents(input, values);
}

Result<FoundExtents> ExtentSearch::run() {
  Values start;
  for (const InputSymbol& symbol : m_symbols.all()) start.push_back(symbol.opt);
  FoundExtents found = TRY(from(start, Branches::All));
  if (!found.misfit) return found;
  // Perhaps no extents suit both branches of an If.
  m_tries = 0;
  return from(start, Branches::One);
}

Result<FoundExtents> ExtentSearch::from(const Values& start, Branches branches) {
  auto misfit = TRY(misfitAt(start, branches));
  FoundExtents found{.values = start, .misfit = std::move(misfit), .branches = branches};
  while (found.misfit && !exhausted())
    if (!TRY(improve(found))) break;
  if (found.misfit) {
    found.inputsWithoutExtents = inputsWithoutExtents(found);
    return found;
  }
  TRY(restoreUsual(found));
  TRY(preferWhole(found));
  return found;
}

bool ExtentSearch::exhausted() const {
  const std::size_t most = kMostNodes / std::max<std::size_t>(m_trial.nodeCount(), 1);
  return m_tries >= std::clamp(most, kFewestTries, kMostTries);
}

Result<std::optional<Misfit>> ExtentSearch::misfitAt(const Values& values, Branches branches) {
  ++m_tries;
  const auto types = m_symbols.types(values);
  if (!types) return std::optional(Misfit{.error = {.message = "an extent of an input would be negative"}});
  return m_trial.misfit(*types, branches, m_stop);
}

Result<bool> ExtentSearch::tryValues(FoundExtents& found, const Values& values) {
  if (exhausted() || values == found.values) return false;
  auto misfit = TRY(misfitAt(values, found.branches));
  if (misfit && !misfit->isLaterThan(*found.misfit)) return false;
  found.values = values;
  found.misfit = std::move(misfit);
  return true;
}

/// Returns values that may be right for a symbol if a node cannot work: values of other symbols, values that the
/// numbers at the node suggest, round numbers near the usual value, and then any small number.
std::vector<std::int64_t> ExtentSearch::candidatesFor(std::size_t symbol, const FoundExtents& found) const {
  std::vector<std::int64_t> list;
  const InputSymbol& own = m_symbols.all()[symbol];
  if (own.given) return list;
  for (const std::int64_t value : found.values) add(list, value);
  const bool batch = own.opt == 1;
  const std::vector<std::int64_t> numbers = m_trial.numbersAt(*found.misfit);
  const auto addSuggested = [&](bool round) {
    for (const std::int64_t stride : kStrides)
      for (const std::int64_t number : numbers)
        if ((stride == 1 || !batch) && (number % 8 == 0) == round) add(list, number * stride);
  };
  addSuggested(true);
  if (!batch)
    for (const std::int64_t step : {32, 16, 8}) addMultiples(list, step, own.opt, kLargestRound);
  addSuggested(false);
  add(list, 1);
  for (std::int64_t power = 2 * kLargestRound; !batch && power <= 16 * kLargestRound; power *= 2) add(list, power);
  for (std::int64_t value = 1; value <= (batch ? 16 : 128); ++value) add(list, value);
  return list;
}

Result<bool> ExtentSearch::improve(FoundExtents& found) {
  std::vector<std::vector<std::int64_t>> candidates;
  for (std::size_t i = 0; i < found.values.size(); ++i) candidates.push_back(candidatesFor(i, found));
  if (TRY(improveOne(found, candidates))) return true;
  return improveTwo(found, candidates);
}

Result<bool> ExtentSearch::improveOne(FoundExtents& found, const std::vector<std::vector<std::int64_t>>& candidates) {
  std::size_t longest = 0;
  for (const auto& list : candidates) longest = std::max(longest, list.size());
  for (std::size_t rank = 0; rank < longest; ++rank) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (rank >= candidates[i].size()) continue;
      Values values = found.values;
      values[i] = candidates[i][rank];
      if (TRY(tryValues(found, values))) return true;
    }
  }
  return false;
}

Result<bool> ExtentSearch::improveTwo(FoundExtents& found, const std::vector<std::vector<std::int64_t>>& candidates) {
  const auto tryPair = [&](std::size_t i, std::int64_t a, std::size_t j, std::int64_t b) -> Result<bool> {
    Values values = found.values;
    values[i] = a;
    values[j] = b;
    return tryValues(found, values);
  };
  for (std::size_t i = 0; i < candidates.size(); ++i)
    for (std::size_t j = i + 1; j < candidates.size(); ++j)
      for (const std::int64_t value : candidates[i])
        if (!candidates[j].empty() && TRY(tryPair(i, value, j, value))) return true;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    for (std::size_t j = i + 1; j < candidates.size(); ++j)
      for (std::size_t a = 0; a < std::min(kTogether, candidates[i].size()); ++a)
        for (std::size_t b = 0; b < std::min(kTogether, candidates[j].size()); ++b)
          if (TRY(tryPair(i, candidates[i][a], j, candidates[j][b]))) return true;
  return false;
}

/// Restores usual values that were changed on the way without need.
Status ExtentSearch::restoreUsual(FoundExtents& found) {
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (found.values[i] == m_symbols.all()[i].opt) continue;
    Values values = found.values;
    values[i] = m_symbols.all()[i].opt;
    if (!TRY(misfitAt(values, found.branches))) found.values = std::move(values);
  }
  return Done{};
}

Result<std::size_t> ExtentSearch::restsAt(const Values& values) const {
  const auto types = m_symbols.types(values);
  return types ? m_trial.rests(*types, m_stop) : Result<std::size_t>(0);
}

/// If an extent cannot have its usual value, one that pooling windows divide is preferred, because it shows what a
/// network pools away (the height of a line of text). Of the round values with fewer remainders, the nearest to the
/// usual value is chosen.
Status ExtentSearch::preferWhole(FoundExtents& found) {
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const InputSymbol& symbol = m_symbols.all()[i];
    if (found.values[i] == symbol.opt || symbol.opt == 1 || symbol.given) continue;
    std::size_t fewest = TRY(restsAt(found.values));
    if (fewest == 0) continue;
    std::vector<std::int64_t> candidates;
    for (const std::int64_t step : {32, 16, 8}) addMultiples(candidates, step, symbol.opt, 2 * found.values[i]);
    std::ranges::stable_sort(candidates, {}, [&](std::int64_t value) { return std::abs(value - symbol.opt); });
    for (const std::int64_t candidate : candidates) {
      if (exhausted()) break;
      Values values = found.values;
      values[i] = candidate;
      if (TRY(misfitAt(values, found.branches))) continue;
      const std::size_t rests = TRY(restsAt(values));
      if (rests >= fewest) continue;
      fewest = rests;
      found.values = std::move(values);
      if (!found.isWhole(i)) found.whole.push_back(i);
      if (rests == 0) break;
    }
  }
  return Done{};
}

/// Returns the inputs on which the failing node depends. Inputs that only have a batch are left out if there are
/// others.
std::vector<std::size_t> ExtentSearch::inputsWithoutExtents(const FoundExtents& found) const {
  std::vector<std::size_t> open, blamed;
  for (const std::size_t input : m_trial.inputsBehind(*found.misfit)) {
    if (!m_symbols.isOpen(input)) continue;
    open.push_back(input);
    const auto symbols = m_symbols.ofInput(input);
    if (std::ranges::any_of(symbols, [&](std::size_t i) { return m_symbols.all()[i].opt != 1; }))
      blamed.push_back(input);
  }
  return blamed.empty() ? open : blamed;
}

}  // namespace fusescope
