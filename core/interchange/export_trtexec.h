#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// A trtexec command line with --layerPrecisions and --layerOutputTypes, exact names only: wildcards and unknown names
/// fail silently there. Layer names come from the log's `Registering layer: X for ONNX node: Y` lines; without a log,
/// a name that the option cannot express, or that the parser's suffixes could have given to another node's layer,
/// is refused.
Result<Exported> writeTrtexec(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
