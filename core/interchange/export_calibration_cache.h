#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// Writes TensorRT's calibration cache, for --int8 --calib of trtexec up to 10.16: the ranges of the plan as one scale
/// for each edge. Errors: the plan has no ranges, the name of an edge cannot be written in a line, TensorRT 11 or
/// later.
Result<Exported> writeCalibrationCache(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
