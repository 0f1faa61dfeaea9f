#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/extent_search.h"

namespace fusescope {

/// How far the value of a symbol can go in one direction.
struct ExtentBound {
  std::int64_t value = 0;
  std::string problem;  ///< the problem at the next value; empty if no value beyond was asked for
  /// If the problem is in a body, the position of its holder in the order of the graph.
  std::optional<std::size_t> holder{};
};

struct ExtentBounds {
  std::vector<ExtentBound> least, most;  ///< by symbol
};

/// Finds the range of symbol values in which the network can work: the smallest values with all symbols at their
/// minimum, and the largest with all at their maximum. The search starts from the min and max of each symbol and from
/// the values that extentSearch() found. If an end of the usual range does not work, the nearest value that works is
/// used; multiples of the value that was found are tried before other numbers. Two symbols that cannot change
/// independently and have the same value (the batch of an input and of a state) are changed together. The search is
/// bounded and deterministic.
Result<ExtentBounds> extentBounds(const InputSymbols& symbols, const ExtentTrial& trial, const FoundExtents& found,
                                  const StopToken& stop);

}  // namespace fusescope
