#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "calibration/range_method.h"

namespace fusescope {

/// How ranges are chosen, and what else is done so that codes lose less.
struct CalibrationSettings {
  RangeChoice choice{.method = RangeMethod::Mse};  ///< of edges
  RangeMethod weightMethod = RangeMethod::Mse;     ///< not Entropy: a channel has too few numbers for it
  bool perChannel = true;                          ///< a range for each channel of weights, else one
  bool correctBiases = true;         ///< the mean error of rounded weights is taken out of each product's bias
  double smoothing = 0;              ///< of outliers that move from activations into weights: 0 none, 1 all
  std::vector<std::string> exclude;  ///< patterns of nodes that stay floats
  bool operator==(const CalibrationSettings&) const = default;
};

/// {method, percentile, symmetric, weights_method, per_channel, correct_biases, smoothing, exclude[]}.
Json toJson(const CalibrationSettings& settings);
/// The inverse; other fields may stand beside them. Errors name the field.
Result<CalibrationSettings> calibrationSettingsFromJson(const Json& json);

}  // namespace fusescope
