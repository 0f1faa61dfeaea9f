#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/extent_search.h"

namespace fusescope {

/// How far a symbol may go one way.
struct ExtentBound {
  std::int64_t value = 0;
  std::string problem;  ///< of what lies beyond; empty where no more was asked for
  /// Where the problem is in a body: the place of the node that holds it, in the order of the graph.
  std::optional<std::size_t> holder{};
};

struct ExtentBounds {
  std::vector<ExtentBound> least, most;  ///< by symbol
};

/// The least and the most values of the symbols, of those that they have as min and max and what was found between
/// them, at which the network can work: with all symbols at their least, and with all at their most. Where a usual
/// bound is too far, the nearest to it is looked for, multiples of what was found before other numbers. Two symbols
/// that cannot move alone and have the same value (the batch of an input and of a state) are moved together. Bounded
/// and deterministic.
Result<ExtentBounds> extentBounds(const InputSymbols& symbols, const ExtentTrial& trial, const FoundExtents& found,
                                  const StopToken& stop);

}  // namespace fusescope
