#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// TensorRT's calibration cache, for --int8 --calib of trtexec up to 10.16: the ranges of the plan as one scale an
/// edge. Errors: the plan has no ranges, an edge's name cannot stand in a line, TensorRT 11 or later.
Result<Exported> writeCalibrationCache(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
