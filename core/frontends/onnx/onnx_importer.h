#pragma once

#include "frontends/importers.h"

namespace fusescope {

/// The oldest opset of ai.onnx that the importer brings to canonical form.
inline constexpr std::int64_t kOldestOpset = 7;

/// importModel() for ONNX files.
Result<Model> importOnnx(const std::filesystem::path& path, const ImportLimits& limits, const StopToken& stop);

}  // namespace fusescope
