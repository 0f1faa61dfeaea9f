#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "engine/tactics/format_planner.h"

namespace fusescope {

/// A problem in which the times of some ways are assumed, because they were not measured.
struct PartlyMeasuredProblem {
  FormatProblem problem;                     ///< its `conversionMs` may measure
  std::vector<std::vector<bool>> isAssumed;  ///< by node and way; each node has a way that is not assumed
  /// Returns the same as FormatProblem::conversionMs without measuring. A conversion that was never measured has a
  /// price that is rarely too high.
  std::function<double(std::size_t value, std::size_t from, std::size_t to)> leastConversionMs;
};

/// The nodes whose assumed ways the cheapest choice would use.
struct WorthMeasuring {
  std::vector<std::size_t> nodes;
  double savedMs = 0;  ///< what the cheapest choice saves with them, if their assumed times are right
  double ms = 0;       ///< the time of the cheapest choice without assumed ways
};

/// Returns which nodes are worth measuring because their formats save conversions. A node that is not measured has few
/// ways, so that values may have to be converted for it, and this may take much longer than the node itself. Of the
/// conversions, only those are measured that a cheapest choice uses.
WorthMeasuring worthMeasuring(const PartlyMeasuredProblem& partly);

}  // namespace fusescope
