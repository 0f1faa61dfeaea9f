#include "cache/measurement.h"

#include <algorithm>

namespace fusescope {
namespace {

/// Measuring one tactic takes at least this long, and at least so many runs of it.
constexpr double kLeastMsToMeasure = 20, kRunsToMeasure = 5;

}  // namespace

double msToMeasure(const Measurement& measured) {
  return std::max(kLeastMsToMeasure, kRunsToMeasure * measured.ms);
}

}  // namespace fusescope
