#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// A Python script with the options of NVIDIA ModelOpt's AutoCast: `NODES_TO_EXCLUDE`, regular expressions each of
/// which matches the name of one node that stays in float32. Run on the model, it writes a typed network.
Result<Exported> writeModelopt(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
