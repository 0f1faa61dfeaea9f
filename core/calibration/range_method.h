#pragma once

#include <optional>
#include <string_view>

#include "calibration/histogram.h"

namespace fusescope {

/// How a range is chosen of the numbers that were seen.
enum class RangeMethod {
  MinMax,      ///< all of them
  Percentile,  ///< all but a share at the ends
  Entropy,     ///< the one that loses the least information (Kullback-Leibler divergence), as TensorRT's calibrator
  Mse          ///< the one of the least mean squared error of rounding and clamping together
};
std::string_view name(RangeMethod method);  ///< "minmax", "percentile", "entropy", "mse"
std::optional<RangeMethod> rangeMethodFromName(std::string_view name);

struct RangeChoice {
  RangeMethod method = RangeMethod::MinMax;
  double percentile = 99.99;  ///< Percentile: so many of a hundred are within
  bool symmetric = false;     ///< low = -high, for codes from -127 to 127; else 256 codes from low to high
  bool operator==(const RangeChoice&) const = default;
};

/// What codes stand for, clamped beyond; 0 is always inside. [0, 0] where nothing but 0 was seen.
struct ValueRange {
  double low = 0, high = 0;
  double largest() const { return -low > high ? -low : high; }
  bool operator==(const ValueRange&) const = default;
};

/// Pure: equal histograms give equal ranges.
ValueRange rangeOf(const Histogram& histogram, const RangeChoice& choice);

/// The mean squared error of 8-bit codes of `range` over the numbers of `histogram`, each taken for the middle of its
/// bin.
double quantizationError(const Histogram& histogram, const ValueRange& range, bool symmetric);

}  // namespace fusescope
