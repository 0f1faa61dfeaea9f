#pragma once

#include <string>
#include <vector>

#include "session/tensor_statistics.h"

namespace fusescope {

/// A tensor that is shown beside others, and what is known of it.
struct ShownTensor {
  std::string title;  ///< "float32", "this plan, f16"
  Tensor tensor;
  TensorStatistics statistics;
};

/// One statistic of several tensors, for people: a cell for each, "-" where it is not known.
struct StatisticsRow {
  std::string title;
  std::vector<std::string> cells;
  bool isLoss =
      false;  ///< it counts what becomes infinite or zero in a narrower type, or is NaN or infinite, and is not 0
};
/// Those of `shown` that hold numbers, as cells in this order.
std::vector<StatisticsRow> statisticsRows(const std::vector<const ShownTensor*>& shown);

/// "3 different: 0 (12), 1 (4), 2 (1)"; empty where there are more different elements than are told.
std::string distinctWords(const TensorStatistics& statistics);

/// "every 9th element was looked at: 1,000 of 9,000"; empty where all were.
std::string lookedWords(const TensorStatistics& statistics);

/// What sentences say of a difference: how large it is and where, and what is infinite or NaN; why there is none.
std::vector<std::string> differenceWords(const TensorDifference& difference);

}  // namespace fusescope
