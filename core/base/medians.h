#pragma once

#include <vector>

namespace fusescope {

/// Returns the median: the middle sample, or the mean of the two middle samples if their number is even. `samples` must
/// not be empty.
double median(std::vector<double> samples);

/// Returns the middle sample, or the larger of the two middle samples if their number is even. `samples` must not be
/// empty.
double upperMedian(std::vector<double> samples);

}  // namespace fusescope
