#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "calibration/range_method.h"

namespace fusescope {

/// How ranges are chosen, and what else is done to reduce the error of quantised codes.
struct CalibrationSettings {
  RangeChoice choice{.method = RangeMethod::Mse};  ///< for edges
  RangeMethod weightMethod = RangeMethod::Mse;     ///< not Entropy, because a channel has too few numbers for it
  bool perChannel = true;                          ///< one range for each channel of weights, otherwise one for all
  bool correctBiases = true;         ///< the mean error of rounded weights is subtracted from each product's bias
  double smoothing = 0;              ///< how much of the outliers moves from activations into weights: 0 none, 1 all
  std::vector<std::string> exclude;  ///< patterns of nodes that are not quantised
  bool operator==(const CalibrationSettings&) const = default;
};

/// Returns {method, percentile, symmetric, weights_method, per_channel, correct_biases, smoothing, exclude[]}.
Json toJson(const CalibrationSettings& settings);
/// Reads these fields; the object may have others too. Errors name the field.
Result<CalibrationSettings> calibrationSettingsFromJson(const Json& json);

}  // namespace fusescope
