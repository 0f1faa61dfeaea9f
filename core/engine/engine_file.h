#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "engine/engine.h"
#include "engine/weight_blob.h"

namespace fusescope {

/// Writes an engine file: all that is needed to run without the original model. Format: engine/FORMAT.md. Weights are
/// written from where they lie, never copied whole; the file appears whole or not at all.
Status writeEngineFile(const std::filesystem::path& path, const EngineFile& content);

/// Opens an engine file as openEngineFile(path) does. If it was built from `known`, whose network is open already, its
/// plan is one of `known`, so that it can be compared node by node with other plans of it; else the plan is of the
/// network that the file holds. `known` may be null.
Result<EngineFile> openEngineFile(const std::filesystem::path& path, const std::shared_ptr<const Model>& known,
                                  WeightCheck check = WeightCheck::All);

/// Whether `bytes` begin as an engine file does.
bool isEngine(std::span<const std::byte> bytes);
/// The example inputs in an engine file that lies in memory, as the text of frontends/example_inputs.h; empty: it holds
/// none, or is damaged.
std::string engineExamplesText(std::span<const std::byte> bytes);

}  // namespace fusescope
