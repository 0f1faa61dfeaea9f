#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "calibration/ranges.h"
#include "session/inputs/samples.h"

namespace fusescope {

struct CalibrateOptions {
  CalibrationSettings settings;
  std::string backend = "native";
  int threads = 0;
  StopToken stop{};
  Progress progress{};
};

/// Runs the network of `plan` in float32 on the samples and records the range of every edge that is stored in memory.
/// It works node by node, so that little memory is needed: activations are freed after their last reader, weights are
/// packed for one node at a time, and as many samples run together as fit. The result depends neither on the order of
/// samples nor on how many run together. Errors: those of building and running; a pattern that matches nothing; NaN or
/// infinity on an edge that a product reads (with the edge and the sample).
Result<Ranges> calibrate(const Plan& plan, const Samples& samples, const CalibrateOptions& options);

/// Returns the share, from 0 to 1, of the observed numbers of an edge that are outside its range; 0 without a
/// histogram.
double clampedShare(const EdgeRange& edge);

/// Returns the JSON of `calibrate --json`: {format "fusescope.calibration", method, …, edges[{ value, min, max, low,
/// high, clamped, error }], weights}.
Json calibrationJson(const Ranges& ranges, const std::string& file);

}  // namespace fusescope
