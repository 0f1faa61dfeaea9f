#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// Writes a Python script for Polygraphy's --trt-network-postprocess-script: `postprocess(network)` sets precision and
/// output types of the layers whose metadata names a pinned node, and raises an exception if a name matched nothing.
Result<Exported> writePolygraphy(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
