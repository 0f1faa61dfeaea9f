#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "passes/extent_trial.h"
#include "passes/input_symbols.h"

namespace fusescope {

/// The result of a search.
struct FoundExtents {
  std::vector<std::int64_t> values;               ///< by symbol
  std::optional<Misfit> misfit;                   ///< what fails at these values; nothing if the network can work
  std::vector<std::size_t> inputsWithoutExtents;  ///< if there is a misfit: the inputs for which no extents were found
  Branches branches = Branches::All;              ///< which branches had to work
  /// Symbols at whose values pooling windows leave no remainder, while other values leave one.
  std::vector<std::size_t> whole{};

  bool isWhole(std::size_t symbol) const { return std::ranges::find(whole, symbol) != whole.end(); }

  /// Returns the extents of an input at these values.
  Dims tried(const InputSymbols& symbols, std::size_t input) const;
};

/// Searches for values of the symbols at which the network can work, starting from the values of the symbols. If a node
/// cannot work, it tries values that the numbers at this node suggest, then round values near the first ones, for one
/// symbol after another and then for two together, until the network works up to a later node. The search is bounded
/// and deterministic.
class ExtentSearch {
 public:
  ExtentSearch(const InputSymbols& symbols, const ExtentTrial& trial, const StopToken& stop)
      : m_symbols(symbols), m_trial(trial), m_stop(stop) {}

  Result<FoundExtents> run();

 private:
  using Values = std::vector<std::int64_t>;
  Result<FoundExtents> from(const Values& start, Branches branches);
  Result<bool> improve(FoundExtents& found);
  Result<bool> improveOne(FoundExtents& found, const std::vector<std::vector<std::int64_t>>& candidates);
  Result<bool> improveTwo(FoundExtents& found, const std::vector<std::vector<std::int64_t>>& candidates);
  Result<bool> tryValues(FoundExtents& found, const Values& values);
  Result<std::optional<Misfit>> misfitAt(const Values& values, Branches branches);
  Status restoreUsual(FoundExtents& found);
  Status preferWhole(FoundExtents& found);
  Result<std::size_t> restsAt(const Values& values) const;
  std::vector<std::int64_t> candidatesFor(std::size_t symbol, const FoundExtents& found) const;
  std::vector<std::size_t> inputsWithoutExtents(const FoundExtents& found) const;
  bool exhausted() const;

  const InputSymbols& m_symbols;
  const ExtentTrial& m_trial;
  const StopToken& m_stop;
  std::size_t m_tries = 0;
};

}  // namespace fusescope
