#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// Writes a Python script for OpenVINO: `INFERENCE_PRECISION`, its hint, and `KEPT_VALUES`, the results of nodes that
/// stay in float32. The script, run on the model, writes an IR in which the layers that make these values have the
/// rt_info `precise`. For a plan in int8 it contains the ignored scope of NNCF: `IGNORED_VALUES`, the results of nodes
/// that stay in floats.
Result<Exported> writeOpenvino(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
