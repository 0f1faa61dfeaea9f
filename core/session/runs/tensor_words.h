#pragma once

#include <string>
#include <vector>

#include "session/runs/tensor_statistics.h"

namespace fusescope {

/// A tensor that is shown beside others, with its statistics.
struct ShownTensor {
  std::string title;  ///< "float32", "this plan, f16"
  Tensor tensor;
  TensorStatistics statistics;
};

/// One statistic of several tensors, for people: a cell for each, with "-" if it is unknown.
struct StatisticsRow {
  std::string title;
  std::vector<std::string> cells;
  bool isLoss =
      false;  ///< it counts what becomes infinite or zero in a narrower type, or is NaN or infinite, and is not 0
};
/// Returns the rows for those of `shown` that contain numbers, which are the cells in this order.
std::vector<StatisticsRow> statisticsRows(const std::vector<const ShownTensor*>& shown);

/// Returns "3 different: 0 (12), 1 (4), 2 (1)"; empty if there are too many distinct elements.
std::string distinctWords(const TensorStatistics& statistics);

/// Returns "every 9th element was looked at: 1,000 of 9,000"; empty if all were.
std::string lookedWords(const TensorStatistics& statistics);

/// Returns sentences about a difference: how large it is and where, and what is infinite or NaN; or why there is none.
std::vector<std::string> differenceWords(const TensorDifference& difference);

}  // namespace fusescope
