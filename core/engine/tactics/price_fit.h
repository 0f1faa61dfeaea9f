#pragma once

#include <optional>
#include <span>

#include "cache/timing_cache.h"
#include "engine/tactics/measurer.h"

namespace fusescope {

/// A fitted model of times: ms = fixed + perWork · work + perTraffic · traffic, without negative coefficients. It
/// minimises the squares of relative residuals over the measurements of one series.
struct PriceFit {
  double fixed = 0, perWork = 0, perTraffic = 0;
  double error = 0;  ///< mean error for measurements that were left out of the fit: the larger of both times divided by
                     ///< the smaller, minus 1
  std::size_t samples = 0;
  double leastWork = 0, mostWork = 0, leastTraffic = 0, mostTraffic = 0;

  /// Returns nothing for amounts far outside the measured range, for which the error is unknown.
  std::optional<double> at(double work, double traffic) const;
};

/// A fit with a larger error is not used.
constexpr double kMostFitError = 0.5;

/// Returns nothing if fewer than six different amounts were measured with confidence, or if the error is above
/// kMostFitError.
std::optional<PriceFit> fitPrices(std::span<const WorkSample> samples);

}  // namespace fusescope
