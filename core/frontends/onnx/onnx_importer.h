#pragma once

#include "frontends/importers.h"

namespace fusescope {

/// The oldest opset of ai.onnx that the importer brings to canonical form. Of a file that is older, operators that have
/// not changed up to this opset are read.
inline constexpr std::int64_t kOldestOpset = 7;

/// importModel() for ONNX files.
Result<Model> importOnnx(const std::filesystem::path& path, const ImportLimits& limits, const StopToken& stop,
                         NodesAs nodes);

}  // namespace fusescope
