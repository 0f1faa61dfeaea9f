#pragma once

#include "frontends/importers.h"

namespace fusescope {

/// The oldest opset of ai.onnx whose operators the importer converts to their newest form. Of an older file, operators
/// can be read that have not changed up to this opset.
inline constexpr std::int64_t kOldestOpset = 7;

/// Implements importModel() for ONNX files.
Result<Model> importOnnx(const std::filesystem::path& path, const ImportLimits& limits, const StopToken& stop,
                         NodeForm nodes);

}  // namespace fusescope
