#pragma once

#include <optional>
#include <string_view>

#include "calibration/histogram.h"

namespace fusescope {

/// How a range is chosen for the numbers that were seen.
enum class RangeMethod {
  MinMax,      ///< it contains all numbers
  Percentile,  ///< it contains all numbers except a fraction at the ends
  Entropy,     ///< it loses the least information (Kullback-Leibler divergence), as TensorRT's calibrator chooses it
  Mse          ///< it has the smallest mean squared error of rounding and clamping together
};
std::string_view name(RangeMethod method);  ///< "minmax", "percentile", "entropy", "mse"
std::optional<RangeMethod> rangeMethodFromName(std::string_view name);

struct RangeChoice {
  RangeMethod method = RangeMethod::MinMax;
  double percentile = 99.99;  ///< for Percentile: the percentage of numbers in the range
  bool symmetric = false;     ///< low = -high, for codes from -127 to 127; otherwise 256 codes from low to high
  bool operator==(const RangeChoice&) const = default;
};

/// The range of numbers that codes represent; numbers outside are clamped. It always contains 0, and is [0, 0] if only
/// zeros were seen.
struct ValueRange {
  double low = 0, high = 0;
  double largest() const { return -low > high ? -low : high; }
  bool operator==(const ValueRange&) const = default;
};

/// Chooses a range. It is a pure function: equal histograms give equal ranges.
ValueRange rangeOf(const Histogram& histogram, const RangeChoice& choice);

/// Returns the mean squared error of 8-bit codes of `range` over the numbers of `histogram`, where each number is
/// replaced by the middle of its bin.
double quantizationError(const Histogram& histogram, const ValueRange& range, bool symmetric);

}  // namespace fusescope
