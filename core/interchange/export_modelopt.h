#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// Writes a Python script with options for NVIDIA ModelOpt's AutoCast: `NODES_TO_EXCLUDE` contains regular expressions,
/// each of which matches the name of one node that stays in float32. The script, run on the model, writes a typed
/// network.
Result<Exported> writeModelopt(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
