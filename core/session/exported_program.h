#pragma once

#include <filesystem>

#include "base/json.h"
#include "base/result.h"
#include "ir/model.h"

namespace fusescope {

/// Whether the model is an exported program of PyTorch, which can be looked at and planned, and not run.
bool isExportedProgram(const Model& model);

/// What `inspect` tells of the .pt2 at `path` beside its network: versions, arguments, ranges and guards, examples and
/// modules. docs/json.md has the keys.
Result<Json> exportedProgramJson(const std::filesystem::path& path);

}  // namespace fusescope
