#pragma once

#include <memory>
#include <string>
#include <vector>

#include "calibration/ranges.h"
#include "session/samples.h"

namespace fusescope {

struct CalibrateOptions {
  CalibrationSettings settings;
  std::string backend = "native";
  int threads = 0;
  StopToken stop{};
  Progress progress{};
};

/// Runs the network of `plan` in float32 on the samples and looks at every edge that stands in memory. Streams:
/// activations go with their last reader, weights are packed for one node at a time, samples go through node by node as
/// many together as fit. What comes out depends neither on their order nor on how many went together. Errors: those of
/// building and running; a pattern that matches nothing; NaN or infinity on an edge that a product reads (which edge,
/// in which sample).
Result<Ranges> calibrate(const Plan& plan, const Samples& samples, const CalibrateOptions& options);

/// What of the numbers that were seen on an edge lies beyond its range, from 0 to 1; 0 without a histogram.
double clampedShare(const EdgeRange& edge);

/// {format "fusescope.calibration", method, …, edges[{ value, min, max, low, high, clamped, error }], weights}: what
/// `calibrate --json` prints.
Json calibrationJson(const Ranges& ranges, const std::string& file);

}  // namespace fusescope
