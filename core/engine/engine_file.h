#pragma once

#include <filesystem>

#include "engine/engine.h"

namespace fusescope {

/// Writes an engine file: all that is needed to run without the original model. Format: engine/FORMAT.md. Weights are
/// written from where they lie, never copied whole; the file appears whole or not at all.
Status writeEngineFile(const std::filesystem::path& path, const EngineFile& content);

}  // namespace fusescope
