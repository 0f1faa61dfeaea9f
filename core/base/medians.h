#pragma once

#include <vector>

namespace fusescope {

/// The sample in the middle; of an even number of samples, the mean of the two in the middle. There must be one.
double median(std::vector<double> samples);

/// The sample in the middle; of an even number of samples, the larger of the two in the middle. There must be one.
double upperMedian(std::vector<double> samples);

}  // namespace fusescope
