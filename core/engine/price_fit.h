#pragma once

#include <optional>
#include <span>

#include "cache/timing_cache.h"
#include "engine/measurer.h"

namespace fusescope {

/// ms = fixed + perWork · work + perTraffic · traffic, no coefficient below zero, by least squares of relative
/// residuals over measurements of one series.
struct PriceFit {
  double fixed = 0, perWork = 0, perTraffic = 0;
  double error = 0;  ///< mean, for measurements left out of the fit: the larger over the smaller, less 1
  std::size_t samples = 0;
  double leastWork = 0, mostWork = 0, leastTraffic = 0, mostTraffic = 0;

  /// Null for amounts far beyond those that were measured: the error says nothing of them.
  std::optional<double> at(double work, double traffic) const;
};

/// A fit with a larger error says nothing.
constexpr double kMostFitError = 0.5;

/// Null where fewer than six different amounts were measured with confidence, or the error is above kMostFitError.
std::optional<PriceFit> fitPrices(std::span<const WorkSample> samples);

}  // namespace fusescope
