#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// A Python script for OpenVINO: `INFERENCE_PRECISION`, its hint, and `KEPT_VALUES`, what nodes that stay in float32
/// make. Run on the model, it writes an IR whose layers that make them carry rt_info `precise`. Of a plan in int8 it is
/// the ignored scope of NNCF: `IGNORED_VALUES`, what nodes that stay in floats make.
Result<Exported> writeOpenvino(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
