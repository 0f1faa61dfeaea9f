#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// Writes a trtexec command line with --layerPrecisions and --layerOutputTypes. It uses exact names only, because
/// trtexec silently ignores wildcards and unknown names. Layer names come from the lines `Registering layer: X for ONNX
/// node: Y` of the log. Without a log, a name is refused if the option cannot express it, or if the parser's suffixes
/// could have given it to another node's layer.
Result<Exported> writeTrtexec(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
