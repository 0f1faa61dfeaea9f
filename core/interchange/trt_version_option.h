#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// The version of TensorRT that a file is for, as parseTrtVersion() reads it. The proposed one is the newest whose
/// operators the plan's target knows; if the target is not TensorRT, a usual one.
extern const ExporterOption kTrtVersionOption;

}  // namespace fusescope
