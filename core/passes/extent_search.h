#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "passes/extent_trial.h"
#include "passes/input_symbols.h"

namespace fusescope {

/// What a search ended with.
struct FoundExtents {
  std::vector<std::int64_t> values;      ///< by symbol
  std::optional<Misfit> misfit;          ///< what stood in the way; nothing: the network can work at these values
  std::vector<std::size_t> inputsAsked;  ///< where there is a misfit: inputs whose extents nothing was found for
  Branches branches = Branches::All;     ///< what had to work
  std::vector<std::size_t> whole{};      ///< symbols whose values let no pooling window leave a rest, where others do

  bool isWhole(std::size_t symbol) const { return std::ranges::find(whole, symbol) != whole.end(); }

  /// The extents of an input at these values.
  Dims tried(const InputSymbols& symbols, std::size_t input) const;
};

/// Looks for values of the symbols at which the network can work, from those that the symbols have on. Where a node
/// cannot work, values that its numbers suggest, then round ones near the first, are tried for one symbol after the
/// other, then for two together, until the network works up to a later node. Bounded and deterministic.
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
  std::vector<std::size_t> inputsAsked(const FoundExtents& found) const;
  bool exhausted() const;

  const InputSymbols& m_symbols;
  const ExtentTrial& m_trial;
  const StopToken& m_stop;
  std::size_t m_tries = 0;
};

}  // namespace fusescope
