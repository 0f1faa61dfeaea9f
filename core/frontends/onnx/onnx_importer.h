#pragma once

#include "frontends/importers.h"

namespace fusescope {

/// Implements importModel() for ONNX files.
Result<Model> importOnnx(const std::filesystem::path& path, const ImportLimits& limits, const StopToken& stop,
                         NodeForm nodes);

}  // namespace fusescope
